package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/retention"
)

// fakeRetention has three tasks that ended 50 days ago.
type fakeRetention struct {
	mu      sync.Mutex
	setting retention.Setting
	purged  bool
	late    bool // a purge takes longer than anybody waits
}

func (f *fakeRetention) Get(context.Context, access.Principal) (retention.Setting, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.setting, nil
}

func (f *fakeRetention) Set(_ context.Context, p access.Principal, days int64) (retention.Setting, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setting = retention.Setting{Days: days, SetBy: p.Name, SetAt: time.Now()}
	return f.setting, nil
}

func (f *fakeRetention) Try(_ context.Context, _ access.Principal, days int64) (retention.Found, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if days == 0 || days > 50 || f.purged {
		return retention.Found{}, nil
	}
	return retention.Found{Tasks: 3, Events: 20, Bytes: 4100, Artifacts: 1, ArtifactBytes: 7_300_000}, nil
}

func (f *fakeRetention) Purge(ctx context.Context, p access.Principal) (retention.Found, error) {
	setting, _ := f.Get(ctx, p)
	found, err := f.Try(ctx, p, setting.Days)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.purged = true
	if f.late {
		return found, fault.New(fault.Conflict, "left off")
	}
	return found, err
}

// says fails the test unless an element has a text in it.
func (a answer) says(selector, want string) {
	a.Helper()
	if got := a.text(selector); !strings.Contains(got, want) {
		a.Errorf("%s says %q, want %q", selector, got, want)
	}
}

func (a answer) lacks(selector string) {
	a.Helper()
	if n := len(a.all(selector)); n > 0 {
		a.Errorf("there are %d %s", n, selector)
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	kept := &fakeRetention{}
	c.Retention = kept
	const address = "/settings/retention"

	p := c.get(t, address)
	p.wants(http.StatusOK)
	p.says("main", "Everything is kept for ever.")
	p.lacks("form[action=/settings/retention/run]")

	for _, wrong := range []string{"", "0", "-1", "36501", "1.5", "ten", "99999999999999999999"} {
		p = c.post(t, address, url.Values{"days": {wrong}})
		p.wants(http.StatusUnprocessableEntity)
		p.says("#days-error", "A whole number from 1 to 36500.")
	}
	p = c.post(t, address, url.Values{"days": {"30"}, "count": {"1"}})
	p.wants(http.StatusOK)
	p.says("main", "With 30 days, this would be purged now, of 3 tasks: 20 observations (4.1 kB) and 1 file (7.3 MB). Nothing was changed yet.")
	p.one("input[value=30]")
	p = c.post(t, address, url.Values{"days": {"90"}, "count": {"1"}})
	p.says("main", "With 90 days, nothing would be purged now")
	if kept.setting.Days != 0 {
		t.Errorf("counting set %d days", kept.setting.Days)
	}

	p = c.post(t, address, url.Values{"days": {" 30 "}})
	p.wants(http.StatusSeeOther)
	p = c.get(t, address)
	p.says("main", "Raw observations and files of tasks that ended are purged 30 days after their last change.")
	p.says("main", "Local operator")
	p.says("form[action=/settings/retention/run]", "Purge 3 tasks now")
	p = c.post(t, address+"/run", nil)
	p.wants(http.StatusOK)
	p.says("main", "Purged, of 3 tasks: 20 observations (4.1 kB) and 1 file (7.3 MB).")
	p.says("main", "Nothing. What becomes due is purged once a day.")
	c.post(t, address+"/run", nil).says("main", "Nothing was to be purged.")

	c.post(t, address, url.Values{"days": {"30"}, "forever": {"1"}}).wants(http.StatusSeeOther)
	if kept.setting.Days != 0 {
		t.Errorf("%d days are set, want for ever", kept.setting.Days)
	}
	kept.late = true
	c.post(t, address+"/run", nil).wants(http.StatusConflict)
}

// TestSettingsAreForAdministrators: others neither see nor change them.
func TestSettingsAreForAdministrators(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	kept := &fakeRetention{}
	c.Retention = kept
	operator := access.LocalOperator()
	operator.Role = access.Operator
	c.actAs(operator)
	c.get(t, "/settings/retention").wants(http.StatusForbidden)
	c.get(t, "/settings").wants(http.StatusOK).lacks("main a[href=/settings/retention]")
	for _, address := range []string{"/settings/retention", "/settings/retention/run"} {
		c.post(t, address, url.Values{"days": {"1"}}).wants(http.StatusForbidden)
	}
	if kept.setting.Days != 0 || kept.purged {
		t.Errorf("it was set to %d days, purged %v", kept.setting.Days, kept.purged)
	}
}
