package remote

import (
	"net/url"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

const maxCardURL = 1024 // characters

// ParseCardURL checks the address of an agent that a person typed: http or https,
// no user name or password, no query or fragment, at most 1,024 characters. Space
// around it is dropped. Its error is a *fault.Error of kind Unprocessable.
func ParseCardURL(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return nil, badURL("Give the address of an agent, such as https://example.com/agent.")
	}
	if len(raw) > maxCardURL {
		return nil, badURL("An address may have at most 1,024 characters.")
	}
	u, err := url.Parse(raw)
	switch {
	case err == nil && u.Scheme == "", err != nil && !strings.Contains(raw, "://"), err == nil && u.Opaque != "":
		return nil, badURL("An address begins with http:// or https://, such as https://example.com/agent.")
	case err != nil:
		return nil, badURL("This address cannot be read.")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, badURL("Agents are found by http:// and https:// addresses only.")
	case u.Hostname() == "":
		return nil, badURL("The address names no host.")
	case u.User != nil:
		return nil, badURL("Leave the user name and password out of the address; credentials are set on their own.")
	case u.RawQuery != "" || u.ForceQuery:
		return nil, badURL("Leave out the question mark and what follows it.")
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return nil, badURL("Leave out the # and what follows it.")
	}
	return u, nil
}

func badURL(message string) error {
	return fault.WithFields("The address is not usable. "+message, []fault.Field{{Location: "cardUrl", Message: message}})
}
