package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// client speaks to a product as a program does, and keeps its connections.
type client struct {
	url  string
	http *http.Client
}

func newClient(url string, connections int) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.MaxIdleConns, transport.MaxIdleConnsPerHost = nil, connections, connections
	return &client{url: url, http: &http.Client{Transport: transport}}
}

// close ends the connections that are kept.
func (c *client) close() { c.http.CloseIdleConnections() }

// get returns the whole of an answer that is 200.
func (c *client) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	return c.do(request, http.StatusOK)
}

func (c *client) do(request *http.Request, want int) ([]byte, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != want {
		err = fmt.Errorf("%s %s answered %d: %.300s", request.Method, request.URL.Path, response.StatusCode, body)
	}
	return body, err
}

func (c *client) post(ctx context.Context, path, key string, body, into any, want int) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	answer, err := c.do(request, want)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// register adds n agents and returns their IDs.
func (c *client) register(ctx context.Context, agentsURL string, n int) ([]string, error) {
	ids := make([]string, n)
	for i := range n {
		var agent struct{ ID string }
		if err := c.post(ctx, "/api/v1/agents", "", map[string]string{"cardUrl": cardURL(agentsURL, i)}, &agent, http.StatusCreated); err != nil {
			return nil, err
		}
		ids[i] = agent.ID
	}
	return ids, nil
}

// send has a message accepted that starts a task.
func (c *client) send(ctx context.Context, agentID, messageID string) error {
	body := map[string]string{"text": "Count me, please.", "messageId": messageID}
	return c.post(ctx, "/api/v1/agents/"+agentID+"/commands", uuid.NewString(), body, nil, http.StatusAccepted)
}

// gauge is a metric without labels.
func (c *client) gauge(ctx context.Context, name string) (float64, error) {
	metrics, err := c.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(metrics)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("the product has no metric %s", name)
}

// until asks again and again whether something is so, until it is, or a time is up,
// or an error comes.
func until(ctx context.Context, limit, every time.Duration, is func() (bool, error)) (so bool, err error) {
	over := time.NewTimer(limit)
	defer over.Stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if so, err = is(); so || err != nil {
			return so, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-over.C:
			return false, nil
		case <-tick.C:
		}
	}
}

// rest waits for a time.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
