package agent

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/audit"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/live"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

// SetInterface pins the interface by which the agent is called, in the place of the
// one that its card decides; nil leaves it to the card again. It may be one of the
// card's, or one with another address. fault.NotFound if there is no such agent,
// fault.Unprocessable, with the locations binding, version and url, for one that
// cannot be used. Only administrators do it.
func (c *Catalogue) SetInterface(ctx context.Context, p access.Principal, id string, pinned *remote.Interface) (Agent, error) {
	if err := access.Allow(p, access.NeedAdminister); err != nil {
		return Agent{}, err
	}
	if pinned != nil {
		checked, err := checkInterface(*pinned)
		if err != nil {
			return Agent{}, err
		}
		pinned = &checked
	}
	err := c.Update(ctx, func(tx Tx) error {
		a, err := tx.Agent(p.View(), id)
		if err != nil {
			return err
		}
		tx.Signal(live.OrganisationTopic(p.OrganisationID))
		if err := tx.SetInterface(id, pinned); err != nil {
			return err
		}
		return tx.Audit(a.interfaceEntry(p, pinned))
	})
	if err != nil {
		return Agent{}, err
	}
	return c.Get(ctx, p, id)
}

func (a Agent) interfaceEntry(p access.Principal, pinned *remote.Interface) audit.Entry {
	if pinned == nil {
		return a.entry(p, audit.InterfaceCleared)
	}
	e := a.entry(p, audit.InterfaceSet)
	e.Detail = map[string]string{"binding": pinned.Binding, "version": pinned.ProtocolVersion, "url": withoutQuery(pinned.URL), "tenant": pinned.Tenant}
	return e
}

func checkInterface(i remote.Interface) (remote.Interface, error) {
	i.URL, i.Tenant = strings.TrimSpace(i.URL), strings.TrimSpace(i.Tenant)
	var faults []fault.Field
	if !Speaks(i.Binding, i.ProtocolVersion) {
		faults = append(faults, fault.Field{Location: "binding", Message: "Taskbay does not speak this binding of this version."})
	}
	if problem := addressProblem(i); problem != "" {
		faults = append(faults, fault.Field{Location: "url", Message: problem})
	}
	if len(i.Tenant) > maxIdentifier {
		faults = append(faults, fault.Field{Location: "tenant", Message: "A tenant has at most 200 characters."})
	}
	if len(faults) > 0 {
		return i, fault.WithFields("This interface cannot be used.", faults)
	}
	return i, nil
}

// addressProblem says why calls cannot go to the address of an interface; "" if they
// can. Addresses of gRPC are as remote takes them, and as cards have them.
func addressProblem(i remote.Interface) string {
	u, err := url.Parse(i.URL)
	switch {
	case len(i.URL) > maxURL:
		return "An address may have at most 1,024 characters."
	case err == nil && (u.User != nil || u.Fragment != ""):
		return "Leave out the user name, the password and the part behind #; credentials are set on their own."
	case i.Binding == remote.GRPC:
		if !remote.IsGRPCAddress(i.URL) {
			return "For gRPC an address begins with http://, https://, grpc:// or grpcs://, or is host:port, such as agent.example.com:443."
		}
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "An address begins with http:// or https://, such as https://agent.example.com/a2a."
	}
	return ""
}

// Speaks reports whether the console speaks a binding of a protocol version.
func Speaks(binding, version string) bool {
	for _, protocol := range spoken {
		if sameMajor(protocol.version, version) && slices.Contains(protocol.bindings, binding) {
			return true
		}
	}
	return false
}

// Spoken returns every binding that the console speaks with the version that it
// speaks it of, best first.
func Spoken() []remote.Interface {
	var all []remote.Interface
	for _, protocol := range spoken {
		for _, binding := range protocol.bindings {
			all = append(all, remote.Interface{Binding: binding, ProtocolVersion: protocol.version})
		}
	}
	return all
}

// Chosen returns the interface by which the agent is called: the pinned one, or the
// one that its card decides (see Card.Choose).
func (a Agent) Chosen() (remote.Interface, error) {
	if a.Pinned != nil {
		return *a.Pinned, nil
	}
	return a.Card.Choose()
}
