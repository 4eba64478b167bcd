package scheme

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Limits of a credential.
const (
	MaxOrigins = 20
	MaxSecret  = 16 << 10 // bytes
	MaxPEM     = 64 << 10 // bytes of a private key, or of certificates
	maxHeader  = 100      // characters of a header's name
	maxText    = 1024     // characters of every other member

	// MinSecret is the least length, in bytes, of what goes over the wire. A
	// shorter value cannot be told from ordinary text, so it could not be kept out
	// of what is recorded.
	MinSecret = 6
)

// Rules are what Check holds a credential to.
type Rules struct {
	Local bool // nobody but the person at this machine uses it: its loopback addresses do without TLS
	Now   time.Time
}

// members are those that depend on the kind: the location of each in a fault,
// and whether the kind has to have it.
var members = map[Kind]map[string]bool{
	Bearer:    {},
	APIKey:    {"header": true},
	Basic:     {"username": true},
	OAuth2:    {"tokenUrl": true, "clientId": true, "clientAuth": false, "scope": false, "audience": false},
	MutualTLS: {"certificate": true, "ca": false},
}

// Check returns the credential in the form to store, and what is wrong with it.
// Locations are the members' JSON names. No message repeats a secret.
func Check(c Credential, r Rules) (Credential, []fault.Field) {
	k := &checker{c: c, rules: r}
	if _, ok := members[c.Kind]; !ok {
		k.fault("kind", "Choose one of %s.", joined(Kinds()))
		return k.c, k.faults
	}
	k.checkMembers()
	k.checkOrigins()
	switch c.Kind {
	case Bearer:
		k.checkToken()
	case APIKey:
		k.checkHeader()
		k.checkValue("key")
	case Basic:
		k.checkBasic()
	case OAuth2:
		k.checkOAuth()
	case MutualTLS:
		k.checkMutualTLS()
	}
	return k.c, k.faults
}

type checker struct {
	c      Credential
	rules  Rules
	faults []fault.Field
}

// fault notes the first thing that is wrong at a location.
func (k *checker) fault(location, format string, args ...any) {
	if !k.faulty(location) {
		k.faults = append(k.faults, fault.Field{Location: location, Message: fmt.Sprintf(format, args...)})
	}
}

func (k *checker) faulty(location string) bool {
	return slices.ContainsFunc(k.faults, func(f fault.Field) bool { return f.Location == location })
}

// checkMembers finds members that the kind has to have, or cannot have.
func (k *checker) checkMembers() {
	c := &k.c
	given := []struct {
		location string
		value    *string
	}{
		{"header", &c.Header}, {"username", (*string)(&c.Username)}, {"tokenUrl", &c.TokenURL}, {"clientId", &c.ClientID},
		{"clientAuth", &c.ClientAuth}, {"scope", &c.Scope}, {"audience", &c.Audience}, {"certificate", &c.Certificate}, {"ca", &c.CA},
	}
	for _, m := range given {
		*m.value = strings.TrimSpace(*m.value)
		required, has := members[c.Kind][m.location]
		switch {
		case !has && *m.value != "":
			k.fault(m.location, "A credential of kind %s has none.", c.Kind)
		case required && *m.value == "":
			k.fault(m.location, "A credential of kind %s needs one.", c.Kind)
		case m.location == "certificate" || m.location == "ca":
			if len(*m.value) > MaxPEM {
				k.fault(m.location, "Give at most %d KiB.", MaxPEM>>10)
			}
		case utf8.RuneCountInString(*m.value) > maxText:
			k.fault(m.location, "Give at most %d characters.", maxText)
		case strings.ContainsFunc(*m.value, unprintable):
			k.fault(m.location, "Leave out characters that cannot be seen, such as line ends.")
		}
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

func (k *checker) checkOrigins() {
	if len(k.c.Origins) == 0 {
		k.fault("origins", "Say where it may be sent, such as https://agent.example. It goes nowhere else.")
	}
	if len(k.c.Origins) > MaxOrigins {
		k.fault("origins", "Give at most %d.", MaxOrigins)
		return
	}
	var origins []string
	for i, raw := range k.c.Origins {
		origin, problem := parseOrigin(raw, k.rules.Local)
		if problem == "" && k.c.Kind == MutualTLS && strings.HasPrefix(origin, "http:") {
			problem = "Begin it with https://: without TLS there is no certificate."
		}
		if problem != "" {
			k.fault("origins", "%s%s", ordinal(i, len(k.c.Origins)), problem)
		} else if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	slices.Sort(origins)
	k.c.Origins = origins
}

// ordinal says which of several is meant.
func ordinal(i, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprintf("Number %d: ", i+1)
}

// checkToken checks a bearer token, and that nothing came along with it.
func (k *checker) checkToken() {
	if before, _, ok := strings.Cut(string(k.c.Secret), " "); ok && strings.EqualFold(before, "bearer") {
		k.fault("secret", "Leave out the word Bearer: give the token alone.")
	}
	k.checkValue("token")
	if strings.Contains(string(k.c.Secret), " ") {
		k.fault("secret", "A bearer token has no spaces in it.")
	}
}

// checkValue checks a secret that is the value of a header, or part of one.
func (k *checker) checkValue(name string) {
	k.checkLength("secret", name, string(k.c.Secret))
	if !isHeaderValue(string(k.c.Secret)) {
		k.fault("secret", "A %s is one line of printable ASCII characters, without spaces around it.", name)
	}
}

func (k *checker) checkLength(location, name, value string) {
	switch {
	case value == "":
		k.fault(location, "Give the %s.", name)
	case len(value) < MinSecret:
		k.fault(location, "A %s of fewer than %d characters cannot be told from ordinary text, so it could not be kept out of what is recorded. Use a longer one.", name, MinSecret)
	case len(value) > MaxSecret:
		k.fault(location, "A %s has at most %d KiB.", name, MaxSecret>>10)
	}
}

func (k *checker) checkBasic() {
	username, password := string(k.c.Username), string(k.c.Secret)
	if password != "" {
		k.checkLength("secret", "password", password)
	} else if username != "" {
		k.checkLength("username", "user name without a password", username) // it is a key, then
	}
	if strings.Contains(username, ":") {
		k.fault("username", "A user name has no colon in it.")
	}
	if strings.ContainsFunc(password, unprintable) {
		k.fault("secret", "A password has only characters that can be seen, and is one line.")
	}
}

func (k *checker) checkOAuth() {
	k.checkLength("secret", "client secret", string(k.c.Secret))
	if strings.ContainsFunc(string(k.c.Secret), unprintable) {
		k.fault("secret", "A client secret has only characters that can be seen, and is one line.")
	}
	if k.c.TokenURL != "" {
		if problem := tokenURLProblem(k.c.TokenURL, k.rules.Local); problem != "" {
			k.fault("tokenUrl", "%s", problem)
		}
	}
	if k.c.ClientAuth == "" {
		k.c.ClientAuth = ClientSecretBasic
	}
	if k.c.ClientAuth != ClientSecretBasic && k.c.ClientAuth != ClientSecretPost {
		k.fault("clientAuth", "Choose %s or %s.", ClientSecretBasic, ClientSecretPost)
	}
	k.c.Scope = strings.Join(strings.Fields(k.c.Scope), " ")
	if strings.ContainsFunc(k.c.Scope, notScope) {
		k.fault("scope", "A scope has only printable ASCII characters, and neither \" nor \\.")
	}
}

// notScope reports whether a scope cannot have r (RFC 6749, 3.3).
func notScope(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

func tokenURLProblem(raw string, local bool) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || OriginOf(u) == "" {
		return "This is not the address of a token endpoint, such as https://login.example/oauth2/token."
	}
	if problem := checkSecure(u, local); problem != "" {
		return problem
	}
	switch {
	case u.User != nil:
		return "Leave out the user name and password."
	case u.Fragment != "":
		return "Leave out the # and what follows it."
	}
	return ""
}

func joined[T ~string](items []T) string {
	var out strings.Builder
	for i, item := range items {
		switch {
		case i == 0:
		case i == len(items)-1:
			out.WriteString(" or ")
		default:
			out.WriteString(", ")
		}
		out.WriteString(string(item))
	}
	return out.String()
}
