// Package policytest has what tests of the network policy need: names whose
// addresses change, and a place that nobody may come to.
package policytest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Names is a name server in memory.
type Names struct {
	mu    sync.Mutex
	names map[string][][]netip.Addr
}

// NewNames returns a server of these names. The addresses of a name are those
// of its first element at the first look-up of IPv4 ones, of the second at the next,
// and so on; the last stays. IPv6 ones, IPv4-mapped ones among them, are for names
// with one element. There are no other names.
func NewNames(names map[string][][]netip.Addr) *Names { return &Names{names: names} }

// Resolver returns what asks the server, and no other.
func (a *Names) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go a.serve(there)
		return here, nil
	}}
}

// serve answers as over TCP: each message behind its length (RFC 1035, 4.2.2).
func (a *Names) serve(conn net.Conn) {
	defer conn.Close()
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(head))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		var message dnsmessage.Message
		if message.Unpack(query) != nil {
			return
		}
		a.answer(&message)
		packed, err := message.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...)); err != nil {
			return
		}
	}
}

func (a *Names) answer(message *dnsmessage.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	message.Response, message.Additionals = true, nil
	question := message.Questions[0]
	name := strings.TrimSuffix(question.Name.String(), ".")
	turns, ok := a.names[name]
	if !ok {
		message.RCode = dnsmessage.RCodeNameError
		return
	}
	for _, addr := range turns[0] {
		header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: dnsmessage.ClassINET}
		switch {
		case question.Type == dnsmessage.TypeA && addr.Is4():
			message.Answers = append(message.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
		case question.Type == dnsmessage.TypeAAAA && addr.Is6():
			message.Answers = append(message.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	if len(turns) > 1 && question.Type == dnsmessage.TypeA {
		a.names[name] = turns[1:]
	}
}

// Unvisited returns the port of a listener on 127.0.0.1 that must not be connected
// to before the test has ended.
func Unvisited(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	visited := make(chan bool)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_ = conn.Close()
		}
		visited <- err == nil
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		if <-visited {
			t.Error("a connection was made to what the policy refuses")
		}
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
