package views

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/wire"
)

// WirePage is what went over the wire to an agent, or for a task.
type WirePage struct {
	Shell Shell
	Base  string // the address of the page
	Up    string // of the page of the agent or task
	Name  string // of that
	Page  wire.Page
	Open  *OpenExchange // the one that is unfolded; nil for none
}

// OpenExchange is an exchange with all that is kept of it.
type OpenExchange struct {
	wire.Exchange
	Kept []wire.Event
}

// number is the place of an exchange in the order in which they were made.
func (p WirePage) number(i int) string { return strconv.Itoa(p.Page.Total - i) }

// numbers are those of a run, from its newest to its oldest.
func (p WirePage) numbers(r wire.Run) string {
	return "#" + p.number(r.From) + " to #" + p.number(r.From+len(r.Items)-1)
}

func (p WirePage) unfoldedIn(r wire.Run) bool { return slices.ContainsFunc(r.Items, p.unfolded) }

// runWords says what the exchanges of a run have in common.
func runWords(r wire.Run) string {
	calls := "checks"
	if operation := r.Items[0].Operation; operation != "GetTask" {
		calls = "calls of " + operation
	}
	if r.Items[0].AnsweredAt.IsZero() {
		return strconv.Itoa(len(r.Items)) + " " + calls + " that failed in the same way"
	}
	return strconv.Itoa(len(r.Items)) + " " + calls + " with the same answer"
}

func (p WirePage) unfolded(e wire.Exchange) bool { return p.Open != nil && p.Open.ID == e.ID }

// toggle is the address that unfolds an exchange, or folds it.
func (p WirePage) toggle(e wire.Exchange) string {
	if p.unfolded(e) {
		return p.Base + "#" + exchangeID(e)
	}
	return p.Base + "?open=" + e.ID + "#" + exchangeID(e)
}

func exchangeID(e wire.Exchange) string { return "exchange-" + e.ID }

func exchangeLook(e wire.Exchange) look {
	status := e.GRPCStatus
	if e.Status != 0 {
		status = strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)))
	}
	switch {
	case e.EndedAt.IsZero():
		return look{"working", "working", "Under way"}
	case status == "":
		return look{"failed", "failed", "No answer"}
	case e.Error != "" || e.Status >= 400 || e.GRPCStatus != "" && e.GRPCStatus != "OK":
		return look{"failed", "failed", status}
	}
	return look{"done", "done", status}
}

// took is how long an exchange took to its answer, and to its end.
func took(e wire.Exchange) string {
	var parts []string
	if !e.AnsweredAt.IsZero() {
		parts = append(parts, "answered after "+elapsed(e.AnsweredAt.Sub(e.StartedAt)))
	}
	if !e.EndedAt.IsZero() {
		parts = append(parts, "ended after "+elapsed(e.EndedAt.Sub(e.StartedAt)))
	}
	return strings.Join(parts, ", ")
}

func elapsed(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// headerLines returns a header as it is written on the wire, by name.
func headerLines(h http.Header) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			out.WriteString(name + ": " + value + "\n")
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// bodyText returns a body as it is shown: JSON in lines, with its digits and the
// order of its members.
func bodyText(body []byte) string {
	if !utf8.Valid(body) {
		return fmt.Sprintf("%d bytes that are no text", len(body))
	}
	return indented(body)
}

// cutWords says how much of a body is missing.
func cutWords(kept []byte, size int64) string {
	if int64(len(kept)) >= size {
		return ""
	}
	return fmt.Sprintf("The first %d of %d bytes; no more is kept.", len(kept), size)
}

func notKept(o OpenExchange) string {
	if len(o.Kept) >= o.Events {
		return ""
	}
	return fmt.Sprintf("%d of %d events; no more are kept.", len(o.Kept), o.Events)
}
