package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/client"
)

// caller speaks to a product as a program does, and keeps its connections. What it
// measures it asks for itself, once.
type caller struct {
	url  string
	http *http.Client
	api  *client.Client
}

func newCaller(url string, connections int) (*caller, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.MaxIdleConns, transport.MaxIdleConnsPerHost = nil, connections, connections
	c := &caller{url: url, http: &http.Client{Transport: transport}}
	var err error
	c.api, err = client.New(url, client.Options{HTTPClient: c.http, Attempts: 1})
	return c, err
}

// close ends the connections that are kept.
func (c *caller) close() { c.http.CloseIdleConnections() }

// get returns the whole of an answer that is 200.
func (c *caller) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s answered %d: %.300s", path, response.StatusCode, body)
	}
	return body, err
}

// register adds n agents and returns their IDs.
func (c *caller) register(ctx context.Context, agentsURL string, n int) ([]string, error) {
	ids := make([]string, n)
	for i := range n {
		agent, err := c.api.RegisterAgent(ctx, cardURL(agentsURL, i))
		if err != nil {
			return nil, err
		}
		ids[i] = agent.ID
	}
	return ids, nil
}

// send has a message accepted that starts a task.
func (c *caller) send(ctx context.Context, agentID, messageID string) error {
	_, err := c.api.Submit(ctx, agentID, client.CommandBody{Text: "Count me, please.", MessageID: messageID})
	return err
}

// gauge is a metric without labels.
func (c *caller) gauge(ctx context.Context, name string) (float64, error) {
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
