// Package agenttest runs an A2A agent on the official Go SDK for tests, over every
// binding that the console speaks. What it says is the same on all of them.
package agenttest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"github.com/google/uuid"
	"google.golang.org/grpc"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// Way is one of the ways to speak to an agent.
type Way struct{ Binding, Version string }

// Ways returns all that the console knows.
func Ways() []Way {
	return []Way{
		{remote.JSONRPC, "1.0"}, {remote.HTTPJSON, "1.0"}, {remote.GRPC, "1.0"},
		{remote.JSONRPC, "0.3"}, {remote.HTTPJSON, "0.3"},
	}
}

// String is the way as a test's name.
func (w Way) String() string { return w.Binding + " " + w.Version }

// Legacy reports whether this is A2A 0.3.
func (w Way) Legacy() bool { return w.Version == "0.3" }

// OverGRPC reports whether this is gRPC.
func (w Way) OverGRPC() bool { return w.Binding == remote.GRPC }

// Tenant is one that the agents of A2A 1.0 take; 0.3 has none.
const Tenant = "acme"

// Agent is a running agent.
type Agent struct {
	Interface remote.Interface // without a tenant
	Streaming bool             // its card offers streams
	CardURL   string

	mu   sync.Mutex
	seen []string
}

// Notes are what the agent saw: the extensions, tenant and metadata of every
// message, and every answer with its media type.
func (a *Agent) Notes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}

func (a *Agent) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, fmt.Sprintf(format, args...))
}

// Serve runs an agent that is spoken to in one way, until the test ends. Its card
// offers streams or does not; it can stream in any case.
func Serve(t testing.TB, way Way, streaming bool) *Agent {
	t.Helper()
	a := &Agent{Interface: remote.Interface{Binding: way.Binding, ProtocolVersion: way.Version}, Streaming: streaming}
	// The SDK lists tasks for callers that have a name only.
	caller := func(context.Context) (string, error) { return "console", nil }
	handler := a2asrv.NewHandler(&bot{a},
		a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: caller})),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true})),
	)
	a.Interface.URL = ServeHandler(t, way, handler)
	card := httptest.NewServer(a2asrv.NewAgentCardHandler(cardProducer(a.card(), way)))
	t.Cleanup(card.Close)
	a.CardURL = card.URL + "/" + uuid.NewString() + ".json" // never that of an agent before it at the same port
	return a
}

// ServeHandler lets the SDK serve a handler in one way, until the test ends, and
// returns where.
func ServeHandler(t testing.TB, way Way, handler a2asrv.RequestHandler) (url string) {
	t.Helper()
	switch way {
	case Way{remote.GRPC, "1.0"}:
		return ServeGRPC(t, a2agrpc.NewHandler(handler))
	case Way{remote.JSONRPC, "1.0"}:
		return serveHTTP(t, a2asrv.NewJSONRPCHandler(handler))
	case Way{remote.HTTPJSON, "1.0"}:
		mux := http.NewServeMux()
		mux.Handle("/", a2asrv.NewRESTHandler(handler))
		mux.Handle("/"+Tenant+"/", a2asrv.NewTenantRESTHandler("/{*}", handler))
		return serveHTTP(t, mux)
	case Way{remote.JSONRPC, "0.3"}:
		return serveHTTP(t, a2av0.NewJSONRPCHandler(handler))
	case Way{remote.HTTPJSON, "0.3"}:
		return serveHTTP(t, a2av0.NewRESTHandler(handler))
	}
	t.Fatalf("no agent speaks %s", way)
	return ""
}

func (a *Agent) card() *sdk.AgentCard {
	return &sdk.AgentCard{
		Name: "Go agent over " + a.Interface.Binding, Description: "Asks where to deploy.", Version: "1",
		SupportedInterfaces: []*sdk.AgentInterface{{
			URL: a.Interface.URL, ProtocolBinding: sdk.TransportProtocol(a.Interface.Binding), ProtocolVersion: sdk.ProtocolVersion(a.Interface.ProtocolVersion),
		}},
		Capabilities: sdk.AgentCapabilities{
			Streaming: a.Streaming, PushNotifications: true,
			Extensions: []sdk.AgentExtension{{URI: form.URI}},
		},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"}, Skills: []sdk.AgentSkill{},
	}
}

// cardProducer returns what writes a card as agents of its version do.
func cardProducer(card *sdk.AgentCard, way Way) a2asrv.AgentCardProducer {
	if way.Legacy() {
		return a2av0.NewStaticAgentCardProducer(card)
	}
	return a2asrv.AgentCardProducerFn(func(context.Context) (*sdk.AgentCard, error) { return card, nil })
}

func serveHTTP(t testing.TB, handler http.Handler) (url string) {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/base", handler))
	t.Cleanup(server.Close)
	return server.URL + "/base"
}

// ServeGRPC serves an agent over gRPC, until the test ends, and returns its address.
func ServeGRPC(t testing.TB, agent a2apb.A2AServiceServer, options ...grpc.ServerOption) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	a2apb.RegisterA2AServiceServer(server, agent)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + listener.Addr().String()
}
