package agent_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/remote"
)

func FuzzParseCard(f *testing.F) {
	files, err := filepath.Glob("testdata/cards/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var c struct{ Card json.RawMessage }
		if err := json.Unmarshal(raw, &c); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(c.Card), "https://a.example/card.json")
	}
	f.Add([]byte("\ufeff{}"), "")
	f.Add([]byte(`{"url":"//b","name":"\ud800","security":[{}]}`), "http://[::1]/")
	f.Fuzz(func(t *testing.T, raw []byte, cardURL string) {
		card, findings, err := agent.ParseCard(raw, cardURL)
		if err != nil {
			return
		}
		if strings.TrimSpace(card.Name) == "" || !utf8.ValidString(card.Name) || utf8.RuneCountInString(card.Name) > 200 {
			t.Errorf("name %q", card.Name)
		}
		for _, i := range card.Interfaces {
			u, err := url.Parse(i.URL)
			dialled := err == nil && u.Host != "" && u.User == nil && (u.Scheme == "http" || u.Scheme == "https")
			if !dialled && i.Binding != remote.GRPC {
				t.Errorf("interface with URL %q", i.URL)
			}
		}
		if len(findings) > 201 {
			t.Errorf("%d findings", len(findings))
		}
		for _, e := range card.Extensions {
			if e.Params != nil && !json.Valid(e.Params) {
				t.Errorf("params %q", e.Params)
			}
		}
		if _, err := json.Marshal(card); err != nil {
			t.Errorf("card cannot be stored: %v", err)
		}
	})
}
