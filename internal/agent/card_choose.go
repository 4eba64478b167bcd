package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// spoken lists the protocol versions that the console speaks, newest first, and
// the bindings of each.
var spoken = []struct {
	version  string
	bindings []string
}{
	{"1.0", []string{remote.JSONRPC, remote.HTTPJSON, remote.GRPC}},
	{"0.3", []string{remote.JSONRPC, remote.HTTPJSON}},
}

// Choose returns the interface over which to speak to the agent: of the newest
// protocol version that both sides speak, the one that the card lists first. A
// later minor version of a spoken major one is the second choice, since 1.x
// agents keep to what 1.0 says.
//
// The error, a *fault.Error, says in words for a newcomer why none fits.
func (c Card) Choose() (remote.Interface, error) {
	for _, protocol := range spoken {
		for _, matches := range []func(a, b string) bool{sameVersion, sameMajor} {
			for _, i := range c.Interfaces {
				if matches(i.ProtocolVersion, protocol.version) && slices.Contains(protocol.bindings, i.Binding) {
					return i, nil
				}
			}
		}
	}
	return remote.Interface{}, fault.New(fault.Unprocessable, "%s", c.whyNone())
}

func sameVersion(a, b string) bool { return a == b }

func sameMajor(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}

func (c Card) whyNone() string {
	if len(c.Interfaces) == 0 {
		return "The agent's card names no address at which Taskbay could reach it."
	}
	var offers []string
	for _, i := range c.Interfaces {
		offer := fmt.Sprintf("A2A %s over %s", i.ProtocolVersion, cut(i.Binding, maxTag))
		if !slices.Contains(offers, offer) {
			offers = append(offers, offer)
		}
	}
	var known []string
	for _, protocol := range spoken {
		known = append(known, fmt.Sprintf("A2A %s over %s", protocol.version, alternatives(protocol.bindings)))
	}
	return fmt.Sprintf("Taskbay and this agent have no common language: the agent offers %s; Taskbay speaks %s.",
		strings.Join(offers, ", "), strings.Join(known, ", "))
}

// alternatives writes "a, b or c".
func alternatives(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
