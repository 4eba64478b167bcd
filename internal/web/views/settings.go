package views

import (
	"strings"

	"github.com/agent-taskbay/taskbay/internal/access"
)

// Faults are what is wrong with what was entered on a page.
type Faults struct {
	Problem string            // about no single control; "" if there is none
	At      map[string]string // by the names of the controls
}

// option is one choice of several, with what it means.
type option struct{ value, label, hint string }

// roles are what somebody can be, with what they may then.
var roles = []option{
	{string(access.Viewer), "Viewer", "Reads what is granted, and never writes."},
	{string(access.Operator), "Operator", "Starts and answers tasks of the agents that are granted to operate."},
	{string(access.Admin), "Administrator", "Everything here, and every agent without a grant."},
}

// scopes are what a token lets a program do, with all before it.
var scopes = []option{
	{string(access.ScopeRead), "Read", "Sees what its owner sees."},
	{string(access.ScopeOperate), "Operate", "Also starts, answers and cancels tasks as its owner may."},
	{string(access.ScopeAdminister), "Administer", "Also everything that an administrator does here."},
}

// scopesOf are the scopes that a role allows.
func scopesOf(r access.Role) []option {
	switch r {
	case access.Admin:
		return scopes
	case access.Operator:
		return scopes[:2]
	}
	return scopes[:1]
}

// labelOf is what people call one of several options.
func labelOf(options []option, value string) string {
	for _, o := range options {
		if o.value == value {
			return o.label
		}
	}
	return value
}

// permissionWords says what somebody may do with an agent.
func permissionWords(p access.Permission) string {
	if p == access.Operate {
		return "Operate"
	}
	return "Read"
}

func permissionLook(p access.Permission) look {
	if p == access.Operate {
		return look{"done", "send", permissionWords(p)}
	}
	return look{"working", "eye", permissionWords(p)}
}

// subjectWords says to whom something is granted.
func subjectWords(s access.Subject) string {
	switch {
	case s.TeamID != "":
		return "The team " + s.Name
	case s.MemberID != "":
		return s.Name
	}
	return "Everybody"
}

// wayWords says how somebody comes to see an agent.
func wayWords(s access.Sight) string {
	switch {
	case s.Grant == nil:
		return "as an administrator"
	case s.Grant.Subject.TeamID != "":
		return "through the team " + s.Grant.Subject.Name
	case s.Grant.Subject.MemberID != "":
		return "granted to them"
	}
	return "granted to everybody"
}

// kindWords says what sort of member it is.
func kindWords(k access.Kind) string {
	switch k {
	case access.KindService:
		return "Service account"
	case access.KindLocal:
		return "Uses this machine"
	}
	return "Person"
}

func memberLook(m access.Member) look {
	if !m.Enabled() {
		return look{"failed", "cancel", "Disabled"}
	}
	if m.Role == access.Admin {
		return look{"done", "person", labelOf(roles, string(m.Role))}
	}
	return look{"unknown", "person", labelOf(roles, string(m.Role))}
}

// browserNames are what browsers have in what they call themselves, in the order in
// which they have to be looked for, as most pretend to be others.
var browserNames = []struct{ mark, name string }{
	{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"HeadlessChrome/", "Chrome"},
	{"Chromium/", "Chromium"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
}

var systemNames = []struct{ mark, name string }{
	{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Macintosh", "macOS"}, {"Linux", "Linux"},
}

// browserWords names a browser by what it calls itself: "Firefox on Linux".
func browserWords(client string) string {
	browser, system := "", ""
	for _, b := range browserNames {
		if strings.Contains(client, b.mark) {
			browser = b.name
			break
		}
	}
	for _, s := range systemNames {
		if strings.Contains(client, s.mark) {
			system = s.name
			break
		}
	}
	switch {
	case browser == "":
		return or(clip(client, 60), "Unknown browser")
	case system == "":
		return browser
	}
	return browser + " on " + system
}
