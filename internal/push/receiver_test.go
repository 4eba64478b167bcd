package push_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/push"
	"github.com/agent-taskbay/taskbay/internal/store"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

// TestASlowBody is cut off, and its connection with it.
func TestASlowBody(t *testing.T) {
	t.Parallel()
	b := setUp(t)
	registrar, _ := b.run("https://console.example", keyOne)
	registrar.Heard(b.start("T"))
	asked := b.expect("create", nil)
	ring, err := vault.ParseRing(keyOne, "")
	if err != nil {
		t.Fatal(err)
	}
	receiver := push.NewReceiver(store.For[push.Tx](b.db.Update), ring, newID, slog.New(slog.DiscardHandler))
	receiver.Body = 50 * time.Millisecond
	server := httptest.NewServer(receiver)
	defer server.Close()

	conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	path := strings.TrimPrefix(asked.config.URL, "https://console.example")
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: console.example\r\nContent-Length: 1000\r\n\r\n{\"statusUpdate\":", path); err != nil {
		t.Fatal(err)
	}
	answer := bufio.NewReader(conn)
	response, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusRequestTimeout || !response.Close {
		t.Errorf("it is answered with %s, connection closed %t; want 408 and the end", response.Status, response.Close)
	}
}
