package browser

import (
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/task"
)

// TestALostReplyIsNoSecondMessage sends once more after the reply was lost and
// the page loaded again: that is the same message.
func TestALostReplyIsNoSecondMessage(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	p.visit(s.URL() + "/agents/" + s.SampleAgent("plain").ID)
	p.until(`document.querySelector("message-composer")?.add`)
	evaluate[bool](p, `(window.fetch = (real => async (...request) => { await real(...request); throw new TypeError("lost"); })(window.fetch), true)`)
	p.click("#composer-text")
	p.typeText("Deploy the shop")
	p.press(kb.Enter, chromedp.ModifierCtrl)
	p.until(`document.querySelector("#composer-error").textContent.includes("does not answer")`)

	p.reload()
	p.until(`document.querySelector("#composer-text")?.value === "Deploy the shop"`)
	p.click("#composer-text")
	p.press(kb.Enter, chromedp.ModifierCtrl)
	p.until(`location.pathname.startsWith("/tasks/")`)
	var list struct {
		Items []struct{ ID string } `json:"items"`
	}
	s.Call("GET", "/api/v1/tasks", nil, &list)
	if len(list.Items) != 1 {
		t.Errorf("there are %d tasks, want the one message to have started one", len(list.Items))
	}
}

// TestOddDraftsAreIgnored has storage hold what no page of ours put there.
func TestOddDraftsAreIgnored(t *testing.T) {
	t.Parallel()
	s, p := product(t)
	address := s.URL() + "/agents/" + s.SampleAgent("plain").ID
	p.visit(address)
	p.until(`document.querySelector("message-composer")?.add`)
	for _, draft := range []string{`{"key":{}}`, `no JSON`, `null`, `{"text":{}}`, `{"text":"kept","pairs":{"key":{}}}`} {
		evaluate[bool](p, `(localStorage.setItem("taskbay.message." + document.querySelector("message-composer").getAttribute("draft"), args[0]), true)`, draft)
		// What leaves a page saves it: the odd draft has to outlast that.
		evaluate[bool](p, `(Storage.prototype.setItem = Storage.prototype.removeItem = () => {}, true)`)
		p.visit(address)
		p.until(`document.querySelector("message-composer")?.add`)
	}
	if got := p.value("#composer-text"); got != "kept" {
		t.Errorf("the composer holds %q, want the text of the draft whose key is odd", got)
	}
}

// TestAFailedAnswerStandsInTheFormAgain has the sending of an answer fail while
// the page is open, so fast that the question never went away.
func TestAFailedAnswerStandsInTheFormAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, `{"title":"Room","schema":{"type":"object","properties":{"name":{"type":"string","title":"Name","default":"Ada"}}}}`)
	p := s.open(t)
	p.isLive()
	evaluate[bool](p, `(window.fetch = async () => Response.json({ location: location.pathname }), true)`)
	p.fill("#f-name", "Grace")
	p.click("structured-form [type=submit]")
	p.until(`document.querySelector(".form-status").textContent === "Sent."`)
	s.change(func(x *task.Task) {
		x.Messages = append(slices.Clone(x.Messages), task.Message{
			Seq: 2, Version: x.Version, ID: "answer", Role: a2a.RoleUser, At: time.Now(), Author: "Ana", Answers: "asked", AnswerTo: x.Question.Form,
			Parts:    []a2a.Part{a2a.DataPart([]byte(`{"name":"Grace"}`), "application/json")},
			Delivery: &task.Delivery{CommandID: "c", Status: "failed", Error: "Nothing listens there."},
		})
		x.Messages[0].Version = x.Version
	})
	p.until(`document.querySelector(".form-earlier")?.innerText.trim() === "Your earlier answer was not sent: Nothing listens there."`)
	if got := p.value("#f-name"); got != "Grace" {
		t.Errorf("the form holds %q, want what was sent", got)
	}
	if evaluate[bool](p, `document.querySelector("#f-name").readOnly`) {
		t.Error("the form cannot be corrected")
	}
	p.shot("failed-answer")
}
