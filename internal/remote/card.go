package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// CardFetch is a card as it was found, and the way to it.
type CardFetch struct {
	Raw      []byte    // a JSON object, without the byte order mark that some servers put before it
	URL      string    // where it was found
	Attempts []Attempt // in order; the last one is the success, if there was one
}

// Attempt is one address that was asked for a card.
type Attempt struct {
	URL     string `json:"url"`
	Problem string `json:"problem,omitempty"` // in words for a newcomer; "" if the card was there
}

// FetchCard finds an agent's card from what a person typed (see ParseCardURL): the
// card itself if the path ends in .json, else the well-known places below the URL
// and at its origin, and the URL itself last. If the host cannot be reached it is
// asked once only. CardFetch.Attempts is filled in on an error too.
//
// agentID is that of the agent, whose credential goes along where it may be sent
// to; "" for one that is not registered.
func (c *Client) FetchCard(ctx context.Context, agentID, rawURL string) (CardFetch, error) {
	base, err := ParseCardURL(rawURL)
	if err != nil {
		return CardFetch{}, &Error{Delivery: NotSent, Message: fault.Public(err).Message, Err: err}
	}
	var found CardFetch
	var failures []*Error
	for _, place := range cardPlaces(base) {
		raw, err := c.fetchCard(ctx, agentID, place)
		if err == nil {
			found.Attempts = append(found.Attempts, Attempt{URL: place})
			found.Raw, found.URL = raw, place
			return found, nil
		}
		found.Attempts = append(found.Attempts, Attempt{URL: place, Problem: err.Message})
		failures = append(failures, err)
		if err.Delivery != Answered {
			break
		}
	}
	return found, noCard(failures)
}

// cardPlaces returns where an agent's card may be, best first. A2A 0.3 and earlier
// versions called it agent.json.
func cardPlaces(base *url.URL) []string {
	if strings.HasSuffix(strings.ToLower(base.Path), ".json") {
		return []string{base.String()}
	}
	origin := &url.URL{Scheme: base.Scheme, Host: base.Host}
	var places []string
	for _, name := range []string{"agent-card.json", "agent.json"} {
		for _, from := range []*url.URL{base, origin} {
			place := from.JoinPath(".well-known", name).String()
			if !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	return append(places, base.String())
}

// fetchCard asks one address for a card.
func (c *Client) fetchCard(ctx context.Context, agentID, place string) ([]byte, *Error) {
	call := c.newCall(ctx, agentCard, agentID)
	defer call.end()
	request, err := http.NewRequestWithContext(call.ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, call.fail(&Error{Delivery: NotSent, Message: "This is not an address that can be asked.", Err: err})
	}
	request.Header.Set(sdk.SvcParamVersion, string(sdk.Version))
	response, err := call.dispatch(request)
	if err != nil {
		return nil, call.fail(err)
	}
	body, err := call.readBody(response, c.limits.Card)
	if err != nil {
		outcome := call.fail(err)
		if errors.Is(err, ErrTooLarge) {
			outcome.Delivery, outcome.Message = Answered, fmt.Sprintf("What is there is larger than %s, too large for an agent card.", megabytes(c.limits.Card))
		}
		return nil, outcome
	}
	card, problem := call.readCard(response, body)
	if problem != nil {
		return nil, call.fail(problem)
	}
	return card, nil
}

// readCard returns the card in an answer. Problems tell nothing of what an answer
// holds: it may come from a place that the caller has no business to see.
func (c *call) readCard(response *http.Response, body []byte) ([]byte, *Error) {
	if !isSuccess(response.StatusCode) {
		outcome := c.statusOutcome(response)
		if response.StatusCode == http.StatusNotFound {
			outcome.Message = "Nothing is there (404 Not Found)."
		}
		outcome.Delivery = Answered
		return nil, outcome
	}
	card, isJSON := firstJSON(body)
	problem := ""
	switch {
	case !isJSON && isPage(response, body):
		problem = "A web page is there, not an agent card."
	case !isJSON:
		problem = "What is there is not JSON, so it is no agent card."
	case rawjson.KindOf(card) != rawjson.Object:
		problem = "What is there is JSON, but not an object, so it is no agent card."
	case !looksLikeCard(card):
		problem = "What is there is JSON, but has nothing of an agent card in it."
	default:
		return card, nil
	}
	return nil, &Error{Delivery: Answered, Code: CodeInvalidResponse, Message: problem}
}

// looksLikeCard reports whether an object has anything that only a card has. A
// card with faults is still a card.
func looksLikeCard(object []byte) bool {
	for name := range rawjson.Members(object) {
		switch name {
		case "name", "url", "supportedInterfaces", "skills", "capabilities", "protocolVersion":
			return true
		}
	}
	return false
}

// noCard is the outcome if no place had a card: that of the most telling attempt,
// a refused caller before something else that was there before nothing.
func noCard(failures []*Error) *Error {
	best := failures[0]
	for _, failure := range failures[1:] {
		if telling(failure) > telling(best) {
			best = failure
		}
	}
	if len(failures) == 1 {
		return best
	}
	outcome := *best
	outcome.Message = fmt.Sprintf("No agent card was found at %d addresses. %s", len(failures), best.Message)
	return &outcome
}

func telling(e *Error) int {
	switch e.Code {
	case "HTTP 401", "HTTP 403":
		return 3
	case "HTTP 404", "HTTP 405":
		return 0
	case CodeInvalidResponse:
		return 1
	}
	return 2
}
