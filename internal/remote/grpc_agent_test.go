package remote_test

import (
	"net"
	"testing"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
)

// serveGRPC serves an agent over gRPC and returns its address.
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
