package remote_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/agent-taskbay/taskbay/internal/credential/certtest"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

const canary = "canary-5d1f/+=c0ffee"

// holding is what a client authenticates with: one credential for every agent.
type holding struct{ *scheme.Holder }

func (h holding) For(ctx context.Context, _ string, u *url.URL) (scheme.Applied, error) {
	return h.Apply(ctx, u)
}

func (h holding) ForCard(ctx context.Context, _ string, u *url.URL) (scheme.Applied, error) {
	return h.Apply(ctx, u)
}

func holder(t *testing.T, c scheme.Credential) holding {
	t.Helper()
	h, err := scheme.NewHolder("c-1", c, scheme.Options{Redactor: &scheme.Redactor{}})
	if err != nil {
		t.Fatal(err)
	}
	return holding{h}
}

// overHTTP are the ways to speak to an agent that is an HTTP server.
var overHTTP = slices.DeleteFunc(agenttest.Ways(), agenttest.Way.OverGRPC)

// allCalls makes every call of an agent, and returns what each brought or said.
func allCalls(t *testing.T, c *remote.Client, at string, ways []agenttest.Way) map[string]string {
	t.Helper()
	said := map[string]string{}
	say := func(way string, observations []remote.Observation, err error) {
		for _, o := range observations {
			said[way] += string(o.Raw) + string(o.Payload)
		}
		if err != nil {
			said[way] += outcome(t, err).Message + err.Error()
		}
	}
	for _, way := range ways {
		for name, operation := range operations {
			observations, err := operation(testContext(t), c, targetBy(way, at))
			say(way.String()+" "+name, observations, err)
		}
	}
	if ways[0].OverGRPC() {
		return said
	}
	found, err := c.FetchCard(testContext(t), "agent-1", at+"/card.json")
	say("card", []remote.Observation{{Raw: found.Raw, Payload: json.RawMessage(fmt.Sprint(found.Attempts))}}, err)
	return said
}

// TestCredentialGoesAlong: it is on every call, by every binding and for the card.
func TestCredentialGoesAlong(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		credential   scheme.Credential
		header, want string
	}{
		"bearer":  {scheme.Credential{Kind: scheme.Bearer, Secret: canary}, "Authorization", "Bearer " + canary},
		"API key": {scheme.Credential{Kind: scheme.APIKey, Header: "X-Agent-Key", Secret: canary}, "X-Agent-Key", canary},
		"basic":   {scheme.Credential{Kind: scheme.Basic, Username: "ann", Secret: canary}, "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("ann:"+canary))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, answers(http.StatusNotFound, "", ""))
			tc.credential.Origins = []string{agent.URL}
			made := allCalls(t, newClient(t, remote.Options{Credentials: holder(t, tc.credential)}), agent.URL, overHTTP)
			got := agent.requests()
			if len(got) != len(made) {
				t.Errorf("the agent got %d requests of %d", len(got), len(made))
			}
			for _, r := range got {
				if values := r.Header.Values(tc.header); len(values) != 1 || values[0] != tc.want {
					t.Errorf("%s %s has %s %q, want %q", r.Method, r.Path, tc.header, values, tc.want)
				}
			}
		})
	}
}

// TestNothingIsSentWithoutCredential: an address that the credential is not for
// gets no call at all.
func TestNothingIsSentWithoutCredential(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, answers(http.StatusNotFound, "", ""))
	h := holder(t, scheme.Credential{Kind: scheme.Bearer, Secret: canary, Origins: []string{"https://agent.example"}})
	for way, said := range allCalls(t, newClient(t, remote.Options{Credentials: h}), agent.URL, agenttest.Ways()) {
		if !strings.Contains(said, "may not be sent to "+agent.URL) {
			t.Errorf("%s: %q, want it to say where the credential may go", way, said)
		}
	}
	if got := agent.requests(); len(got) != 0 {
		t.Errorf("the agent got %v", got)
	}
	_, err := newClient(t, remote.Options{Credentials: h}).Send(testContext(t), target(agent.URL, remote.JSONRPC), message())
	if !remote.IsRefusal(err) || fault.KindOf(err) != fault.Unprocessable {
		t.Errorf("Send() = %v, want a refusal of this side", err)
	}
}

// echoes returns a text with a secret in every encoding.
func echoes(secret string) string {
	return strings.Join([]string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		each(secret, "%%%02x"), each(secret, "%%25%02X"), each(secret, "&#x%x;"), each(secret, "&#0%d;"), each(secret, "&amp;#%d;"), each(secret, "%02X:"),
		base64.StdEncoding.EncodeToString([]byte("Bearer " + secret)), base64.StdEncoding.EncodeToString([]byte("x" + secret + "y")),
	}, " | ")
}

// each writes every byte of a text in a format.
func each(text, format string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		_, _ = fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

// leaks returns those encodings of the canary that a text has in it.
func leaks(text string) (found []string) {
	for _, form := range strings.Split(echoes(canary), " | ")[:12] {
		if strings.Contains(text, form) {
			found = append(found, form)
		}
	}
	return found
}

// TestEchoedSecrets gives an agent that repeats its credential everywhere: in
// bodies, headers, events, errors and what is no HTTP at all.
func TestEchoedSecrets(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(echoes(canary))
	if err != nil {
		t.Fatal(err)
	}
	status := `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":` + string(quoted) + `}]}}}}`
	card := `{"name":` + string(quoted) + `,"skills":[]}`
	agents := map[string]http.HandlerFunc{
		"event":     streams("id: "+canary+"\nevent: "+canary+"\n"+rpcEvent(status), rpcEvent(status)),
		"answer":    answers(200, "application/json", rpc(status)),
		"card":      answers(200, "application/json", card),
		"error":     answers(200, "application/json", `{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":`+string(quoted)+`,"data":[{"reason":`+string(quoted)+`}]}}`),
		"not JSON":  answers(200, "text/plain", strings.Repeat("x", 190)+echoes(canary)), // cut in the middle of it
		"header":    echoHeaders(401),
		"forbidden": echoHeaders(403),
		"redirect":  echoHeaders(307),
	}
	for name, handle := range agents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, handle)
			records := &recorded{}
			client := newClient(t, remote.Options{
				Credentials: holder(t, scheme.Credential{Kind: scheme.Bearer, Secret: canary, Origins: []string{agent.URL}}), Record: records.add,
			})
			for way, said := range allCalls(t, client, agent.URL, overHTTP) {
				if found := leaks(said); len(found) > 0 {
					t.Errorf("%s: %q is in %q", way, found, said)
				}
			}
			if found := leaks(records.text()); len(found) > 0 || !strings.Contains(records.text(), "[redacted]") {
				t.Errorf("%q is in what was recorded: %s", found, records.text())
			}
		})
	}
	broken := newRawAgent(t, func(conn net.Conn, next func() bool) {
		if next() {
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", canary)
		}
	})
	client := newClient(t, remote.Options{Credentials: holder(t, scheme.Credential{Kind: scheme.Bearer, Secret: canary, Origins: []string{broken.url}})})
	for way, said := range allCalls(t, client, broken.url, overHTTP) {
		if found := leaks(said); len(found) > 0 {
			t.Errorf("no HTTP, %s: %q is in %q", way, found, said)
		}
	}
}

// escaped returns a text with every byte of it, which is ASCII, as an escape of JSON.
func escaped(text string) string { return each(text, `\u%04x`) }

// TestEchoedCard gives a card with a byte order mark before it and the credential in
// it: the card is read, and nothing of the credential is kept.
func TestEchoedCard(t *testing.T) {
	t.Parallel()
	for name, spelled := range map[string]string{"as it is": canary, "escapes": escaped(canary), "percent": each(canary, "%%%02x"), "HTML": each(canary, "&#x%x;")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, answers(200, "application/json", "\uFEFF"+`{"name":"<`+spelled+`>","skills":[]}`))
			records := &recorded{}
			client := newClient(t, remote.Options{
				Credentials: holder(t, scheme.Credential{Kind: scheme.Bearer, Secret: canary, Origins: []string{agent.URL}}), Record: records.add,
			})
			found, err := client.FetchCard(testContext(t), "agent-1", agent.URL+"/card.json")
			if want := `{"name":"<[redacted]>","skills":[]}`; err != nil || string(found.Raw) != want {
				t.Errorf("the card is %s, %v; want %s", found.Raw, err, want)
			}
			if kept := records.text(); strings.Contains(kept, spelled) || !strings.Contains(kept, "<[redacted]>") {
				t.Errorf("recorded was %s", kept)
			}
		})
	}
}

// TestEchoedEscapes gives an agent that repeats its credential in escapes of JSON, in
// answers that are not JSON as a whole and are read all the same, and in the name of
// a header.
func TestEchoedEscapes(t *testing.T) {
	t.Parallel()
	const secret = "canary-5D1f-c0ffee"
	said := `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello ` + escaped(secret) + `"}]}}`
	for name, handle := range map[string]http.HandlerFunc{
		"byte order mark": answers(200, "application/json", "\uFEFF"+rpc(said)),
		"text behind":     answers(200, "application/json", rpc(said)+" x"),
		"event":           streams("data: " + rpc(said) + " x\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-"+secret, "1")
				handle(w, r)
			})
			records := &recorded{}
			client := newClient(t, remote.Options{
				Credentials: holder(t, scheme.Credential{Kind: scheme.Bearer, Secret: secret, Origins: []string{agent.URL}}), Record: records.add,
			})
			observations, err := operations["stream"](testContext(t), client, target(agent.URL, remote.JSONRPC))
			if err != nil || len(observations) != 1 {
				t.Fatalf("the agent said %v, %v", observations, err)
			}
			if got := string(observations[0].Payload); !strings.Contains(got, `"hello [redacted]"`) {
				t.Errorf("the agent's message is %s", got)
			}
			kept := records.text()
			if strings.Contains(kept, escaped(secret)) || strings.Contains(strings.ToLower(kept), strings.ToLower(secret)) || !strings.Contains(kept, "X-[redacted]:[1]") {
				t.Errorf("recorded was %s", kept)
			}
		})
	}
}

func echoHeaders(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		secret := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("WWW-Authenticate", "Bearer realm=\""+echoes(secret)+"\"")
		w.Header().Set("Location", "http://127.0.0.1:1/"+url.PathEscape(secret))
		w.Header().Set("X-Debug", echoes(secret))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, echoes(secret))
	}
}

// recorded keeps records.
type recorded struct {
	mu  sync.Mutex
	all []remote.Record
}

func (r *recorded) add(record remote.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, record)
}

func (r *recorded) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out strings.Builder
	for _, record := range r.all {
		fmt.Fprintln(&out, record.URL, record.Header, string(record.Body), record.EventID, record.EventType, record.Err)
	}
	return out.String()
}

// TestClientCertificate calls an agent that takes only callers with a certificate,
// and that an authority of its own vouches for.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	authority := certtest.NewAuthority(t)
	agent := authority.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, rpc(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello `+r.TLS.PeerCertificates[0].Subject.CommonName+`"}]}}`))
	}))
	mine := authority.Client(t, time.Now().Add(time.Hour))
	client := newClient(t, remote.Options{Credentials: holder(t, scheme.Credential{
		Kind: scheme.MutualTLS, Origins: []string{agent.URL}, Certificate: mine.Certificate, Secret: scheme.Secret(mine.Key), CA: authority.PEM,
	})})
	for range 2 {
		o, err := client.Send(testContext(t), target(agent.URL, remote.JSONRPC), message())
		if err != nil || !strings.Contains(string(o.Payload), "hello console") {
			t.Fatalf("Send() = %s, %v; want it to know the console by its certificate", o.Payload, err)
		}
	}
	if _, err := newClient(t, remote.Options{}).Send(testContext(t), target(agent.URL, remote.JSONRPC), message()); err == nil {
		t.Error("Send() without a certificate was answered")
	}
}

// grpcEcho answers every call with an error that repeats the credential, in its
// message, its details, the header and the trailer.
func grpcEcho(seen chan<- string) []grpc.ServerOption {
	answer := func(ctx context.Context) error {
		md, _ := metadata.FromIncomingContext(ctx)
		secret := strings.TrimPrefix(strings.Join(md["authorization"], ","), "Bearer ")
		seen <- secret
		_ = grpc.SetHeader(ctx, metadata.Pairs("x-debug", echoes(secret)))
		_ = grpc.SetTrailer(ctx, metadata.Pairs("x-debug", echoes(secret), "x-"+hex.EncodeToString([]byte(secret)), "1"))
		said, err := status.New(codes.Internal, strings.Repeat("x", 450)+echoes(secret)).WithDetails(&errdetails.ErrorInfo{Reason: echoes(secret)})
		if err != nil {
			return err
		}
		return said.Err()
	}
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, _ any, _ *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
			return nil, answer(ctx)
		}),
		grpc.StreamInterceptor(func(_ any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, _ grpc.StreamHandler) error {
			return answer(stream.Context())
		}),
	}
}

func TestCredentialOverGRPC(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 100)
	at := agenttest.ServeGRPC(t, a2apb.UnimplementedA2AServiceServer{}, grpcEcho(seen)...)
	records := &recorded{}
	client := newClient(t, remote.Options{
		Credentials: holder(t, scheme.Credential{Kind: scheme.Bearer, Secret: canary, Origins: []string{at}}), Record: records.add,
	})
	made := allCalls(t, client, at, []agenttest.Way{{Binding: remote.GRPC, Version: "1.0"}})
	if len(seen) != len(made) {
		t.Errorf("the agent got %d calls of %d", len(seen), len(made))
	}
	for range len(seen) {
		if got := <-seen; got != canary {
			t.Errorf("the agent got the token %q", got)
		}
	}
	for way, said := range made {
		if found := leaks(said); len(found) > 0 || !strings.Contains(said, "xxx") {
			t.Errorf("%s: %q is in %q", way, found, said)
		}
	}
	if found := leaks(records.text()); len(found) > 0 || !strings.Contains(records.text(), "X-[redacted]:[1]") {
		t.Errorf("%q is in what was recorded: %s", found, records.text())
	}
}

func TestClientCertificateOverGRPC(t *testing.T) {
	t.Parallel()
	authority := certtest.NewAuthority(t)
	greet := grpc.UnaryInterceptor(func(ctx context.Context, _ any, _ *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
		caller, _ := peer.FromContext(ctx)
		name := caller.AuthInfo.(credentials.TLSInfo).State.PeerCertificates[0].Subject.CommonName
		return nil, status.Error(codes.NotFound, "hello "+name)
	})
	at := strings.Replace(agenttest.ServeGRPC(t, a2apb.UnimplementedA2AServiceServer{}, greet, grpc.Creds(credentials.NewTLS(authority.ServerTLS(t)))), "http:", "https:", 1)
	mine := authority.Client(t, time.Now().Add(time.Hour))
	client := newClient(t, remote.Options{Credentials: holder(t, scheme.Credential{
		Kind: scheme.MutualTLS, Origins: []string{at}, Certificate: mine.Certificate, Secret: scheme.Secret(mine.Key), CA: authority.PEM,
	})})
	for range 2 {
		_, err := client.Get(testContext(t), target(at, remote.GRPC), "t-1", nil)
		if e := outcome(t, err); !strings.Contains(e.Message, "hello console") {
			t.Fatalf("Get() = %v, want it to know the console by its certificate", err)
		}
	}
	if _, err := newClient(t, remote.Options{}).Get(testContext(t), target(at, remote.GRPC), "t-1", nil); strings.Contains(outcome(t, err).Message, "hello") {
		t.Error("Get() without a certificate was answered")
	}
}

// serveGRPC serves an agent over gRPC until the test ends, and returns its address.
func serveGRPC(t *testing.T, agent a2apb.A2AServiceServer, options ...grpc.ServerOption) (url string) {
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
