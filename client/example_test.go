package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/agent-taskbay/taskbay/client"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
)

// Sends a message to an agent, answers the form that it asks with, and waits until the
// work is done.
func Example() {
	server, stop := startServer()
	defer stop()
	ctx := context.Background()

	bay, err := client.New(server.URL(), client.Options{Token: os.Getenv("TASKBAY_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := bay.RegisterAgent(ctx, server.SampleCardURL("form"))
	if err != nil {
		log.Fatal(err)
	}
	agent, err = bay.DiscoverAgent(ctx, agent.ID) // its card of now, if it was registered before
	if err != nil {
		log.Fatal(err)
	}
	command, err := bay.Submit(ctx, agent.ID, client.CommandBody{Text: "Deploy the billing service"})
	if err != nil {
		log.Fatal(err)
	}
	task, err := bay.WaitTask(ctx, command.TaskID, func(t client.Task) bool { return t.Question != nil || t.Ended() })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(agent.Name, "asks:", task.Question.Prompt)

	_, err = bay.Submit(ctx, agent.ID, client.Answer(task, json.RawMessage(`{"environment": "moon", "replicas": 2, "dryRun": false}`)))
	var problem *client.Problem
	if errors.As(err, &problem) {
		fmt.Println(problem.Status, problem.Detail, problem.Errors)
	}

	_, err = bay.Submit(ctx, agent.ID, client.Answer(task, json.RawMessage(`{"environment": "staging", "replicas": 2, "dryRun": false}`)))
	if err != nil {
		log.Fatal(err)
	}
	task, err = bay.WaitTask(ctx, task.ID, func(t client.Task) bool { return t.Ended() })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.State)

	// Output:
	// Deploy bot asks: Where should I deploy it, and with how many replicas?
	// 422 The answer does not fit the form. [{environment Choose one of the options}]
	// TASK_STATE_COMPLETED
}

// startServer runs a Taskbay with its sample agents, which a program would find at an
// address of its own.
func startServer() (server *app.App, stop func()) {
	dir, err := os.MkdirTemp("", "taskbay-client-")
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	workers := true
	server, err = app.New(ctx, config.Config{Listen: "127.0.0.1:0", DataDir: dir, Workers: &workers}, app.Options{SampleAgents: "127.0.0.1:0"})
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	return server, func() {
		cancel()
		if err := errors.Join(<-ended, server.Close(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}
