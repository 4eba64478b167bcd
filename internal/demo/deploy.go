package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/agent-taskbay/taskbay/form"
)

// deployBot asks where to deploy a service. It shows all that a Go agent needs
// for structured forms: describe the form, send its definition, decode the
// answer.
type deployBot struct {
	advertised bool
	order      form.Form // asked before a task starts, if the console offers it
	deployment form.Form // asked on every task
	definition json.RawMessage
}

// order and deployment are the answers to the forms of the same name.
type order struct {
	Service  string `json:"service"`
	Priority string `json:"priority"`
}

type deployment struct {
	Environment string `json:"environment"`
	Replicas    int    `json:"replicas"`
	Note        string `json:"note"`
	DryRun      bool   `json:"dryRun"`
}

func orderForm() form.Form {
	return form.Form{
		Title:       "What should be deployed?",
		SubmitLabel: "Start",
		Fields: []form.Field{
			{Key: "service", Kind: form.Text, Label: "Service", Description: "As it is called in the catalogue, such as billing.", Required: true, MaxLength: new(80)},
			{Key: "priority", Kind: form.Choice, Label: "Priority", Default: "normal", Options: []form.Option{
				{Value: "normal", Label: "Normal"},
				{Value: "urgent", Label: "Urgent: page the team on call"},
			}},
		},
	}
}

func deploymentForm() form.Form {
	return form.Form{
		Title:       "Deployment",
		Description: "Rest assured: a sample agent deploys nothing.",
		SubmitLabel: "Deploy",
		Fields: []form.Field{
			{Key: "environment", Kind: form.Choice, Label: "Environment", Required: true, Options: []form.Option{
				{Value: "staging", Label: "Staging, for the team"},
				{Value: "production", Label: "Production, for customers"},
			}},
			{Key: "replicas", Kind: form.Integer, Label: "Replicas", Description: "How many copies run side by side, 1 to 10.", Required: true, Minimum: "1", Maximum: "10", Default: 2},
			{Key: "note", Kind: form.Text, Label: "Note for the log", MaxLength: new(200)},
			{Key: "dryRun", Kind: form.Boolean, Label: "Dry run: change nothing, only say what would happen"},
		},
	}
}

var deploySkill = a2a.AgentSkill{
	ID:          "deploy",
	Name:        "Deploy a service",
	Description: "Brings a service to staging or production. Asks for the environment, the number of replicas, a note and whether it is a dry run.",
	Tags:        []string{"deployment", "operations"},
	Examples:    []string{"Deploy the billing service", "Roll out the new checkout to staging"},
}

func newDeployBot(Options) (*bot, error) {
	b, err := newDeployment(true)
	if err != nil {
		return nil, err
	}
	startForm, err := b.order.Definition()
	if err != nil {
		return nil, err
	}
	return &bot{
		Variant: Variant{
			Name:        Form,
			Title:       "Deploy bot",
			Description: "Deploys a service. Before it does, it asks where to and how many replicas, with a form instead of a chat.",
		},
		skills: []a2a.AgentSkill{deploySkill},
		extensions: []a2a.AgentExtension{{
			URI:         form.URI,
			Description: "Asks for the details of a deployment with a form.",
			Params:      map[string]any{"startForm": startForm},
		}},
		start:  b.start,
		resume: b.resume,
	}, nil
}

func newPlainDeployBot(Options) (*bot, error) {
	b, err := newDeployment(false)
	if err != nil {
		return nil, err
	}
	return &bot{
		Variant: Variant{
			Name:        Plain,
			Title:       "Plain deploy bot",
			Description: "Sends the same form as Deploy bot, but its card never says that it uses forms. So its question is shown as plain data.",
		},
		skills: []a2a.AgentSkill{deploySkill},
		start:  b.start,
		resume: b.resume,
	}, nil
}

func newDeployment(advertised bool) (*deployBot, error) {
	b := &deployBot{advertised: advertised, order: orderForm(), deployment: deploymentForm()}
	var err error
	b.definition, err = b.deployment.Definition()
	return b, err
}

func (b *deployBot) start(_ context.Context, t *turn) {
	prompt := "Where should I deploy it, and with how many replicas?"
	var o order
	if err := b.order.DecodeAnswer(t.data(), &o); err == nil {
		prompt = fmt.Sprintf("Where should I deploy %s, and with how many replicas?", o.Service)
	}
	t.ask(prompt, b.definition, b.advertised)
}

func (b *deployBot) resume(_ context.Context, t *turn) {
	answer := t.data()
	if answer == nil {
		t.ask("I would rather not guess from free text. Please fill in the form, or cancel the task.", b.definition, b.advertised)
		return
	}
	var d deployment
	if err := b.deployment.DecodeAnswer(answer, &d); err != nil {
		t.ask("I cannot work with that answer: "+inWords(&b.deployment, err)+" Please try again.", b.definition, b.advertised)
		return
	}
	t.working("Thank you. Getting everything ready.")
	t.artifact("Deployment request", "What I was asked for, exactly as I received it.", dataPart(answer, "application/json"))
	t.complete(fmt.Sprintf("Deploying %d replica(s) to %s.", d.Replicas, d.Environment))
}

// inWords tells a person what is wrong with an answer to a form.
func inWords(f *form.Form, err error) string {
	var faults form.Errors
	if !errors.As(err, &faults) {
		return "it cannot be read."
	}
	var words []string
	for _, fault := range faults {
		if field := f.Field(fault.Key); field != nil {
			words = append(words, field.Label+": "+fault.Message)
			continue
		}
		words = append(words, fault.Message)
	}
	return strings.Join(words, "; ") + "."
}
