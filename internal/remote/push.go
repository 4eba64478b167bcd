package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// PushConfig asks an agent to post what happens on a task to an address (A2A 1.0,
// 4.3.1).
type PushConfig struct {
	TaskID      string // the agent's
	ID          string // "" leaves it to the agent; an agent may also choose another one
	URL         string
	Token       string // comes back in a header of every post; "" for none
	Scheme      string // how the agent authenticates itself, such as "Bearer"; "" for not
	Credentials string // with which
}

// CreatePushConfig adds a configuration to a task, or replaces the one with its ID,
// and returns what the agent made of it. Agents without push answer with
// CodePushNotSupported.
func (c *Client) CreatePushConfig(ctx context.Context, t Target, config PushConfig) (PushConfig, error) {
	answer, err := c.unary(ctx, t, createPush, func(call *call) error {
		id, err := call.binding.taskID(config.TaskID)
		if err != nil {
			return err
		}
		call.learn(config)
		call.values = map[string][]byte{"taskId": quoted(config.TaskID), "parent": quoted("tasks/" + config.TaskID)}
		request := &sdk.PushConfig{Tenant: call.tenant, TaskID: id, ID: config.ID, URL: config.URL, Token: config.Token}
		if config.Scheme != "" {
			request.Auth = &sdk.PushAuthInfo{Scheme: config.Scheme, Credentials: config.Credentials}
		}
		_, err = call.agent.CreateTaskPushConfig(call.ctx, call.params, request)
		return err
	})
	return readPushConfig(config.TaskID, answer.Payload), err
}

// GetPushConfig returns one configuration of a task.
func (c *Client) GetPushConfig(ctx context.Context, t Target, taskID, id string) (PushConfig, error) {
	answer, err := c.unary(ctx, t, getPush, func(call *call) error {
		task, config, err := call.pushIDs(taskID, id)
		if err != nil {
			return err
		}
		_, err = call.agent.GetTaskPushConfig(call.ctx, call.params, &sdk.GetTaskPushConfigRequest{Tenant: call.tenant, TaskID: task, ID: config})
		return err
	})
	return readPushConfig(taskID, answer.Payload), err
}

// ListPushConfigs returns the configurations of a task, as far as they fit on one
// page of the agent's.
func (c *Client) ListPushConfigs(ctx context.Context, t Target, taskID string) ([]PushConfig, error) {
	answer, err := c.unary(ctx, t, listPushes, func(call *call) error {
		id, err := call.binding.taskID(taskID)
		if err != nil {
			return err
		}
		_, err = call.agent.ListTaskPushConfigs(call.ctx, call.params, &sdk.ListTaskPushConfigRequest{Tenant: call.tenant, TaskID: id})
		return err
	})
	if err != nil {
		return nil, err
	}
	var configs []PushConfig
	for config := range rawjson.Elements(answer.Payload) {
		if len(configs) == maxListed {
			return nil, tooMany("push configurations")
		}
		configs = append(configs, readPushConfig(taskID, config))
	}
	return configs, nil
}

// DeletePushConfig removes one configuration of a task.
func (c *Client) DeletePushConfig(ctx context.Context, t Target, taskID, id string) error {
	_, err := c.unary(ctx, t, deletePush, func(call *call) error {
		task, config, err := call.pushIDs(taskID, id)
		if err != nil {
			return err
		}
		return call.agent.DeleteTaskPushConfig(call.ctx, call.params, &sdk.DeleteTaskPushConfigRequest{Tenant: call.tenant, TaskID: task, ID: config})
	})
	return err
}

// pushIDs prepares the ID of a task and that of a configuration for the SDK.
func (c *call) pushIDs(taskID, id string) (sdk.TaskID, string, error) {
	task, err := c.binding.taskID(taskID)
	if err != nil {
		return "", "", err
	}
	config, err := c.binding.taskID(id)
	return task, string(config), err
}

// readPushConfig reads a configuration of a task in A2A 1.0, or in 0.3, which
// wraps it. Which task it is of is known from what was asked.
func readPushConfig(taskID string, raw json.RawMessage) PushConfig {
	text := func(object []byte, name string) string {
		s, _ := rawjson.Text(rawjson.Member(object, name))
		return s
	}
	config := PushConfig{TaskID: taskID}
	if inner := rawjson.Member(raw, "pushNotificationConfig"); inner != nil {
		raw = inner
	}
	config.ID, config.URL, config.Token = text(raw, "id"), text(raw, "url"), text(raw, "token")
	authentication := rawjson.Member(raw, "authentication")
	config.Scheme, config.Credentials = text(authentication, "scheme"), text(authentication, "credentials")
	for scheme := range rawjson.Elements(rawjson.Member(authentication, "schemes")) {
		config.Scheme, _ = rawjson.Text(scheme)
		break
	}
	return config
}

// pushSecrets are the members of a configuration that hold secrets.
var pushSecrets = map[string]bool{"token": true, "credentials": true}

// learn keeps the secrets of a configuration out of what is recorded of the call,
// wherever an agent repeats them.
func (c *call) learn(config PushConfig) {
	c.private.Learn(config.Token, config.Credentials)
	if at := strings.LastIndexByte(config.URL, '/'); at >= 0 {
		c.private.Learn(config.URL[at+1:])
	}
}

// withoutPath returns the address of a push as a JSON string, up to its path: what
// follows may be a secret.
func withoutPath(address []byte) []byte {
	text, _ := rawjson.Text(address)
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return quoted(redaction)
	}
	return quoted(u.Scheme + "://" + u.Host + "/" + redaction)
}

// secretDepth is how deep in an answer secrets are looked for; a configuration is at
// most four levels deep.
const secretDepth = 16

// withoutSecrets returns JSON without the secrets of push configurations in it, and
// nothing of a text in which they could not be found.
func withoutSecrets(body []byte) []byte {
	if !json.Valid(body) || rawjson.Depth(body) > secretDepth {
		return nil
	}
	return censored(body)
}

func censored(value []byte) []byte {
	var parts [][]byte
	switch rawjson.KindOf(value) {
	case rawjson.Object:
		for name, member := range rawjson.Members(value) {
			switch member = censored(member); {
			case pushSecrets[name]:
				member = quoted(redaction)
			case name == "url" && rawjson.KindOf(member) == rawjson.String:
				member = withoutPath(member)
			}
			parts = append(parts, slices.Concat(quoted(name), []byte(":"), member))
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	case rawjson.Array:
		for element := range rawjson.Elements(value) {
			parts = append(parts, censored(element))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	}
	return value
}

// quoted returns a text as a JSON string.
func quoted(s string) []byte {
	text, _ := json.Marshal(s) // a string always encodes
	return text
}
