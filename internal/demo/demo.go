// Package demo holds the sample agents: real A2A agents on the official SDK's
// server side, in one process and in memory. Each shows one thing that the
// console does with an agent; together they are what the first tour goes
// through, and what the end-to-end tests talk to.
//
// The code of each agent is meant to be read as an example of how to ask a
// person with a structured form.
package demo

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/limiter"
)

// The names of the variants, each the first segment of its paths.
const (
	Form        = "form"         // advertises the structured form and asks with one
	Plain       = "plain"        // asks with the same form, which its card does not announce
	Invalid     = "invalid"      // asks with a form that the rules reject
	KitchenSink = "kitchen-sink" // asks with every kind of field and the worst of texts
	Slow        = "slow"         // streams an artifact for some seconds, then asks
	Unknown     = "unknown"      // advertises an extension that nobody knows
)

// Limits that keep the agents' memory bounded.
const (
	maxTasks      = 1000    // of one agent; the one that changed longest ago goes first
	maxHistory    = 100     // messages kept of one task
	maxBody       = 2 << 20 // bytes of a request
	maxExecutions = 100     // of one agent at a time
)

// Variant is one sample agent as lists and catalogues show it.
type Variant struct {
	Name        string // one of the constants above
	Title       string // the agent's name in its card
	Description string
}

// Options change how the agents behave. The zero value is right outside of
// tests.
type Options struct {
	// Pause is called between two chunks of a streamed artifact and returns
	// early, with an error, when the context ends. Nil waits about half a second.
	Pause func(context.Context) error
	// Log receives what the SDK has to say. Nil discards it.
	Log *slog.Logger
}

// Agents serves all sample agents under one base URL.
type Agents struct {
	base string
	bots []*bot
	mux  *http.ServeMux
}

// New returns the sample agents for the URL under which they will be served,
// such as "http://127.0.0.1:4010". The cards name that URL.
func New(baseURL string, options Options) (*Agents, error) {
	if options.Pause == nil {
		options.Pause = wait
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	// The SDK copies tasks by way of gob, which has to know what a data part holds.
	gob.Register(json.RawMessage{})

	a := &Agents{base: strings.TrimRight(baseURL, "/"), mux: http.NewServeMux()}
	for _, build := range []func(Options) (*bot, error){
		newDeployBot, newPlainDeployBot, newOnboardingBot, newKitchenSink, newReportWriter, newWeatherDesk,
	} {
		b, err := build(options)
		if err != nil {
			return nil, fmt.Errorf("sample agents: %w", err)
		}
		if err := a.mount(b, options.Log); err != nil {
			return nil, fmt.Errorf("sample agent %s: %w", b.Name, err)
		}
		a.bots = append(a.bots, b)
	}
	a.mux.HandleFunc("GET /{$}", a.serveIndex)
	return a, nil
}

func (a *Agents) mount(b *bot, log *slog.Logger) error {
	card, err := json.Marshal(a.card(b))
	if err != nil {
		return err
	}
	prefix := "/" + b.Name
	a.mux.HandleFunc("GET "+prefix+"/card.json", serveJSON(card))
	a.mux.HandleFunc("GET "+prefix+a2asrv.WellKnownAgentCardPath, serveJSON(card))

	tasks := newStore(maxTasks)
	handler := patientCanceler{tasks: tasks, RequestHandler: a2asrv.NewHandler(&executor{b},
		a2asrv.WithLogger(log.With("agent", b.Name)),
		a2asrv.WithTaskStore(tasks),
		a2asrv.WithConcurrencyConfig(limiter.ConcurrencyConfig{MaxExecutions: maxExecutions}),
		a2asrv.WithCallInterceptors(exactData{}),
	)}
	a.mux.Handle("POST "+prefix+"/rpc", keepBody(a2asrv.NewJSONRPCHandler(handler)))
	a.mux.Handle(prefix+"/rest/", http.StripPrefix(prefix+"/rest", keepBody(a2asrv.NewRESTHandler(handler))))
	return nil
}

// card returns the Agent Card of a bot.
func (a *Agents) card(b *bot) *a2a.AgentCard {
	base := a.base + "/" + b.Name
	interfaces := []*a2a.AgentInterface{
		a2a.NewAgentInterface(base+"/rpc", a2a.TransportProtocolJSONRPC),
		a2a.NewAgentInterface(base+"/rest", a2a.TransportProtocolHTTPJSON),
	}
	if b.prefersREST {
		interfaces[0], interfaces[1] = interfaces[1], interfaces[0]
	}
	return &a2a.AgentCard{
		Name:                b.Title,
		Description:         b.Description,
		Version:             "1.0.0",
		Provider:            &a2a.AgentProvider{Org: "Taskbay sample agents", URL: "https://github.com/agent-taskbay/taskbay"},
		DocumentationURL:    "https://github.com/agent-taskbay/taskbay",
		SupportedInterfaces: interfaces,
		Capabilities:        a2a.AgentCapabilities{Streaming: true, Extensions: b.extensions},
		DefaultInputModes:   []string{"text/plain", "application/json"},
		DefaultOutputModes:  []string{"text/plain", "application/json"},
		Skills:              append(b.skills, practice),
	}
}

// Variants returns the sample agents in the order of a tour.
func (a *Agents) Variants() []Variant {
	var list []Variant
	for _, b := range a.bots {
		list = append(list, b.Variant)
	}
	return list
}

// CardURL returns the address of the card of the variant with this name.
func (a *Agents) CardURL(name string) string { return a.base + "/" + name + "/card.json" }

// ServeHTTP serves the cards and the endpoints of all agents, and a list of the
// cards at the root.
func (a *Agents) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

func (a *Agents) serveIndex(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, v := range a.Variants() {
		fmt.Fprintf(w, "%s\n%s\n%s\n\n", v.Title, v.Description, a.CardURL(v.Name))
	}
}

func serveJSON(document []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		w.Write(document)
	}
}

func wait(ctx context.Context) error {
	timer := time.NewTimer(500 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
