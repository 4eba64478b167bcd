package formview

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// controlPrefix keeps the names of a definition's controls apart from all else in a form.
const controlPrefix = "f."

// maxPost bounds what a form may post: every field full of the longest characters, each byte escaped.
const maxPost = form.MaxFields*form.MaxText*4*3 + 1<<16

// Post is what a form posted.
type Post struct {
	Question string // ID of the message that it answers; "" for a start form
	Key      string // idempotency key
	values   url.Values
}

// ReadPost reads the body of a form's POST. It refuses a body over about 4 MB with
// fault.TooLarge, and one that is not URL-encoded with fault.Invalid.
func ReadPost(w http.ResponseWriter, r *http.Request) (Post, error) {
	values, err := readForm(w, r, maxPost)
	if err != nil {
		return Post{}, err
	}
	return Post{Question: values.Get("question"), Key: values.Get("key"), values: values}, nil
}

func readForm(w http.ResponseWriter, r *http.Request, limit int64) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	err := r.ParseForm()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fault.Wrap(err, fault.TooLarge, "This is more than a form can hold, so nothing was sent.")
	case err != nil:
		return nil, fault.Wrap(err, fault.Invalid, "The form could not be read, so nothing was sent.")
	}
	return r.PostForm, nil
}

// Entries returns what stood in the controls of f. What f does not declare is left out.
func (p Post) Entries(f *form.Form) form.Entries {
	entries := make(form.Entries, len(f.Fields))
	for i := range f.Fields {
		field := &f.Fields[i]
		entries[field.Key] = p.entry(field)
	}
	return entries
}

func (p Post) entry(field *form.Field) form.Entry {
	switch field.Kind {
	case form.Boolean:
		return form.Ticked(p.values.Has(controlName(field)))
	case form.Choice:
		return p.choice(field)
	default:
		return form.Typed(p.values.Get(controlName(field)))
	}
}

// choice returns the option chosen. A value that no control of ours posts becomes an entry that no
// choice accepts.
func (p Post) choice(field *form.Field) form.Entry {
	if p.values.Get(controlName(field)) == "" {
		return form.Entry{}
	}
	if at := p.chosen(field); at >= 0 {
		return form.Chosen(field.Options[at].Value)
	}
	return form.Ticked(true)
}

// chosen returns the index of the option chosen, or -1. Options are posted by index because their
// values may repeat, be empty, and hold line ends, which browsers change.
func (p Post) chosen(field *form.Field) int {
	at, err := strconv.Atoi(p.values.Get(controlName(field)))
	if err != nil || at < 0 || at >= len(field.Options) {
		return -1
	}
	return at
}

func controlName(field *form.Field) string { return controlPrefix + field.Key }
