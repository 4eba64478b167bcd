// Package views holds the components that pages and live fragments are made of.
// Whatever an agent wrote passes through them as escaped text.
package views

import (
	"net/http"
	"strconv"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/web/formview"
)

// Shell is what the frame around a page shows.
type Shell struct {
	Title    string
	Section  string   // of the navigation: "tasks", "agents", "form-check", "settings", "audit", or ""
	NeedsYou int      // tasks that wait for a person
	Live     string   // address of the live stream; "" for none
	Sheets   []string // beside those that every page has
	Modules  []string // likewise
	Version  string
	// Administers says that whoever looks may change settings.
	Administers bool
	Asset       func(name string) string // address of a file of the program's own
	Who         Who                      // is signed in; the zero one where nobody signs in
	Outside     bool                     // nobody is signed in yet: there is nothing to navigate to
}

// Who is the person who is signed in.
type Who struct {
	ID   string // what they type is kept under it in a browser that others may use, too
	Name string
	Role access.Role
}

// WithSheets adds style sheets of the page's own.
func (s *Shell) WithSheets(names ...string) { s.Sheets = append(s.Sheets, names...) }

// WithForms adds what a page with a form needs.
func (s *Shell) WithForms() {
	s.WithSheets(formview.StyleSheet)
	s.Modules = append(s.Modules, formview.Module)
}

// Title with the count first, so that it can be seen on a narrow tab.
func (s Shell) documentTitle() string {
	title := formview.PlainText(s.Title) + " · Taskbay"
	if s.NeedsYou > 0 {
		return "(" + strconv.Itoa(s.NeedsYou) + ") " + title
	}
	return title
}

var commonSheets = []string{"tokens.css", "base.css", "components.css", "signin.css", "pages.css"}

var themes = []struct{ value, label, icon string }{
	{"system", "Theme of the system", "system"},
	{"light", "Light theme", "sun"},
	{"dark", "Dark theme", "moon"},
}

func problemAdvice(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "Go back to keep what you had entered, sign in in another tab, and send it again."
	case http.StatusNotFound:
		return "The address may be mistyped, or what was here belongs to somebody else or is gone."
	case http.StatusConflict:
		return "Go back to see what you had entered; reload that page to see how things stand now."
	case http.StatusInternalServerError:
		return "Nothing that Taskbay had accepted is lost. Go back to keep what you had entered, and try again."
	case http.StatusServiceUnavailable:
		return "Go back to keep what you had entered, and try again in a moment."
	case http.StatusTooManyRequests:
		return "Nothing was done. Go back to keep what you had entered, and wait a little before you try again."
	case http.StatusMethodNotAllowed:
		return "This usually means that a page was opened in an unusual way, such as from a bookmark of a form."
	}
	return "Go back to see what you had entered."
}

// currentPage is the value of aria-current.
func currentPage(here bool) string {
	if here {
		return "page"
	}
	return "false"
}
