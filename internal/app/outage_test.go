package app_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/app/apptest"
	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// cable stands between the product and its database, and can be cut.
type cable struct {
	net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]struct{}
}

// newCable returns a cable to the database, and the database's address through it.
func newCable(t *testing.T, database string) (*cable, string) {
	t.Helper()
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{Listener: l, to: at.Host, conns: map[net.Conn]struct{}{}}
	at.Host = l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.carry(conn)
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return c, at.String()
}

func (c *cable) carry(in net.Conn) {
	defer func() { _ = in.Close() }()
	out, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	c.mu.Lock()
	if c.cut {
		c.mu.Unlock()
		return
	}
	c.conns[in] = struct{}{}
	c.mu.Unlock()
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	_, _ = io.Copy(in, out)
	c.mu.Lock()
	delete(c.conns, in)
	c.mu.Unlock()
}

// set cuts the cable, or mends it.
func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for conn := range c.conns {
		_ = conn.Close()
	}
}

// slow is an agent that answers a message when the test lets it.
type slow struct {
	*httptest.Server
	received chan string   // message IDs, as they arrive
	answers  chan struct{} // each lets one answer go
}

func startSlow(t *testing.T) *slow {
	a := &slow{received: make(chan string, 9), answers: make(chan struct{}, 9)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Slow","description":"slow","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],
			"skills":[],"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, a.URL)
	})
	mux.HandleFunc("POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ID      string
				Message struct{ MessageID string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		answer, id := `{"id":"%s","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`, call.Params.ID
		if call.Method == "SendMessage" {
			answer, id = `{"task":`+answer+`}`, call.Params.Message.MessageID
			a.received <- id
			<-a.answers
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, fmt.Sprintf(answer, id))
	})
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

// leased reports whether a process holds a lease, asked past the cable.
func leased(t *testing.T, database string) bool {
	t.Helper()
	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM worker_lease WHERE expires_us > extract(epoch FROM clock_timestamp()) * 1000000").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// TestTheDatabaseGoesAway cuts the cable to the database while a message is being
// answered and somebody watches, until the process has lost its lease. The server
// stays up, says 503, and goes on by itself: what was accepted reaches the agent
// once, and what was refused does not.
func TestTheDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	direct := postgrestest.URL(t)
	cable, through := newCable(t, direct)
	agent := startSlow(t)
	s := apptest.Start(t, apptest.Options{DatabaseURL: through})
	commands := "/api/v1/agents/" + s.Register(agent.URL+"/card.json").ID + "/commands"
	var first, second apptest.Command
	if status := s.Call("POST", commands, map[string]any{"text": "first"}, &first, "Idempotency-Key", "first"); status != http.StatusAccepted {
		t.Fatalf("the first command is answered %d", status)
	}
	events := watch(t, s.URL()+"/api/v1/tasks/"+first.TaskID+"/events")
	<-agent.received

	cable.set(true)
	agent.answers <- struct{}{} // while nobody can store it
	for _, path := range []string{"/tasks", "/tasks/" + first.TaskID, "/api/v1/tasks", "/api/v1/tasks/" + first.TaskID, "/healthz", "/readyz"} {
		s.Eventually("503 at "+path, func() bool {
			status, body, header := get(t, s, path)
			if status == http.StatusInternalServerError {
				t.Fatalf("%s answers %d: %s", path, status, body)
			}
			return status == http.StatusServiceUnavailable && (path == "/readyz" || header.Get("Retry-After") != "")
		})
	}
	refused := map[string]any{"text": "second"}
	if status := s.Call("POST", commands, refused, nil, "Idempotency-Key", "second"); status != http.StatusServiceUnavailable {
		t.Errorf("a command is answered %d, want 503", status)
	}
	s.Eventually("the end of the lease", func() bool { return !leased(t, direct) })
	cable.set(false)

	s.Eventually("a server that is ready", func() bool {
		status, _, _ := get(t, s, "/readyz")
		return status == http.StatusOK
	})
	agent.answers <- struct{}{}
	if status := s.Call("POST", commands, refused, &second, "Idempotency-Key", "second"); status != http.StatusAccepted {
		t.Fatalf("the same command after that is answered %d", status)
	}
	s.TaskIn(second.TaskID, "TASK_STATE_COMPLETED")
	s.TaskIn(first.TaskID, "TASK_STATE_COMPLETED")
	for event := range events {
		if strings.Contains(event, "TASK_STATE_COMPLETED") {
			break
		}
	}
	if again := len(agent.received); again != 1 {
		t.Errorf("the agent got %d messages after the first, want one", again)
	}
	if s.Call("GET", "/api/v1/commands/"+first.ID, nil, &first); first.Status != "succeeded" {
		t.Errorf("the first command is %s: %s", first.Status, first.Error)
	}
}

// TestTheDatabaseIsReadOnly has the database refuse to be written, as a standby does.
// The server says so, refuses what it cannot keep, and goes on when it can.
func TestTheDatabaseIsReadOnly(t *testing.T) {
	t.Parallel()
	database := postgrestest.URL(t)
	s := apptest.Start(t, apptest.Options{DatabaseURL: database, Log: slog.New(slog.DiscardHandler)})
	agent := s.Register(startFiles(t))
	setReadOnly(t, database, true)
	s.Eventually("a server that is not ready", func() bool {
		status, failing := ready(t, s, "/readyz")
		return status == http.StatusServiceUnavailable && slices.Contains(failing, "writes")
	})
	s.Eventually("503 for a command", func() bool {
		return s.Call("POST", "/api/v1/agents/"+agent.ID+"/commands", map[string]any{"text": "go"}, nil, "Idempotency-Key", "k") == http.StatusServiceUnavailable
	})
	if status, _, _ := get(t, s, "/tasks"); status != http.StatusOK {
		t.Errorf("reading is answered %d", status)
	}
	setReadOnly(t, database, false)
	s.Eventually("a server that is ready", func() bool {
		status, _ := ready(t, s, "/readyz")
		return status == http.StatusOK
	})
	var c apptest.Command
	if status := s.Call("POST", "/api/v1/agents/"+agent.ID+"/commands", map[string]any{"text": "go"}, &c, "Idempotency-Key", "k"); status != http.StatusAccepted {
		t.Fatalf("the command is answered %d afterwards", status)
	}
	s.TaskIn(c.TaskID, "TASK_STATE_COMPLETED")
}

// setReadOnly has a database take no writes, or take them again, and ends its
// sessions, which keep what they began with.
func setReadOnly(t *testing.T, database string, readOnly bool) {
	t.Helper()
	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		"SET default_transaction_read_only = off",
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ` + fmt.Sprint(readOnly) + `', current_database()); END $$`,
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}
