package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/httpguard/guardtest"
	"github.com/agent-taskbay/taskbay/internal/web/formview"
)

// desk is a server that asks one question after another, each by a form, and
// keeps what it is answered. It stands in for the product where a test is about
// the form alone.
type desk struct {
	*httptest.Server
	mu        sync.Mutex
	form      *form.Form
	refusal   error // what the next answers get instead of being taken
	answers   []json.RawMessage
	posts     []url.Values
	keys      map[string]bool // of answers that were taken
	isStart   bool
	location  string        // where a module is sent after an answer
	held      chan struct{} // answers wait until it is closed
	isLost    bool          // answers are taken, and nobody hears of it
	closeForm string        // why the form is drawn closed
}

func newDesk(t *testing.T, definition string) *desk {
	t.Helper()
	d := &desk{keys: map[string]bool{}, location: "/sent"}
	d.ask(t, definition)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /task", d.showTask)
	mux.HandleFunc("POST /answer", d.takeAnswer)
	mux.HandleFunc("GET /sent", func(w http.ResponseWriter, r *http.Request) {
		d.finish(w, writePage(w, r, templ.NopComponent, formview.Module))
	})
	check := formview.CheckHandler{Render: func(w http.ResponseWriter, r *http.Request, body templ.Component) error {
		return writePage(w, r, body, formview.CheckModule)
	}}
	mux.HandleFunc("/form-check", func(w http.ResponseWriter, r *http.Request) { d.finish(w, check.Handle(w, r)) })
	files := http.StripPrefix("/static/", http.FileServerFS(os.DirFS("../../internal/web/static")))
	mux.HandleFunc("GET /static/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		files.ServeHTTP(w, r)
	})
	d.Server = httptest.NewServer(guardtest.Local().Guard(mux, func(w http.ResponseWriter, _ *http.Request, e *fault.Error) {
		http.Error(w, e.Message, e.Kind.Status())
	}))
	t.Cleanup(d.Close)
	return d
}

// ask puts another question.
func (d *desk) ask(t *testing.T, definition string) {
	t.Helper()
	f, err := form.Parse([]byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.form, d.answers, d.posts, d.refusal = f, nil, nil, nil
}

// refuse makes the next answers fail with this error; nil takes them again.
func (d *desk) refuse(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refusal = err
}

// hold keeps answers waiting until the function that it returns is called.
func (d *desk) hold() (release func()) {
	held := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = held
	return sync.OnceFunc(func() { close(held) })
}

// lose makes the replies to answers get lost, or arrive again.
func (d *desk) lose(lost bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isLost = lost
}

// taken returns the answers that were taken, in order.
func (d *desk) taken() []json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]json.RawMessage{}, d.answers...)
}

// received returns everything that was posted, refused or not.
func (d *desk) received() []url.Values {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]url.Values{}, d.posts...)
}

func (d *desk) open(post *formview.Post) formview.Open {
	open := formview.Open{
		Form: d.form, Action: "/answer", Key: uuid.NewString(), Scope: "task", Question: "question",
		Post: post, Closed: d.closeForm,
	}
	if d.isStart {
		open.Question = ""
	}
	return open
}

func (d *desk) showTask(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finish(w, writePage(w, r, formview.OpenForm(d.open(nil)), formview.Module))
}

// takeAnswer does what the product does with the answer to a form.
func (d *desk) takeAnswer(w http.ResponseWriter, r *http.Request) {
	post, err := formview.ReadPost(w, r)
	if err != nil {
		d.finish(w, err)
		return
	}
	d.mu.Lock()
	held := d.held
	d.mu.Unlock()
	if held != nil {
		<-held
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.posts = append(d.posts, r.PostForm)
	errs, err := d.judge(post)
	if d.isLost {
		panic(http.ErrAbortHandler)
	}
	switch isModule := r.Header.Get("Accept") == "application/json"; {
	case err == nil && isModule:
		writeJSON(w, http.StatusOK, map[string]any{"location": d.location})
	case err == nil:
		http.Redirect(w, r, "/sent", http.StatusSeeOther)
	case isModule:
		public := fault.Public(err)
		writeJSON(w, public.Kind.Status(), map[string]any{"detail": public.Message, "errors": public.Fields})
	default:
		open := d.open(&post)
		open.Errors = errs
		if len(errs) == 0 {
			open.Closed = fault.Public(err).Message
		}
		d.finish(w, writePage(w, r, formview.OpenForm(open), formview.Module))
	}
}

func (d *desk) judge(post formview.Post) (form.Errors, error) {
	if d.refusal != nil {
		return nil, d.refusal
	}
	if d.keys[post.Key] {
		return nil, nil
	}
	answer, errs := d.form.Check(post.Entries(d.form))
	if len(errs) > 0 {
		fields := make([]fault.Field, len(errs))
		for i, e := range errs {
			fields[i] = fault.Field{Location: e.Key, Message: e.Message}
		}
		return errs, fault.WithFields("Some answers need another look.", fields)
	}
	d.answers = append(d.answers, answer)
	d.keys[post.Key] = true
	return nil, nil
}

func (d *desk) finish(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), fault.KindOf(err).Status())
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// writePage puts a body into a page with the product's styles.
func writePage(w http.ResponseWriter, r *http.Request, body templ.Component, module string) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Desk</title>
<link rel="icon" href="/static/favicon.svg">
<meta name="viewport" content="width=device-width, initial-scale=1">`)
	for _, sheet := range []string{"tokens.css", "base.css", "components.css", formview.StyleSheet, formview.CheckStyleSheet} {
		_, _ = fmt.Fprintf(w, `<link rel="stylesheet" href="/static/%s">`, sheet)
	}
	_, _ = fmt.Fprintf(w, `<script type="module" src="/static/%s"></script></head><body><header></header><main id="main" tabindex="-1">`, module)
	if err := body.Render(r.Context(), w); err != nil {
		return err
	}
	_, _ = io.WriteString(w, `</main></body></html>`)
	return nil
}
