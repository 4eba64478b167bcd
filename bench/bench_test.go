package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/store/postgrestest"
)

// TestMain is also the processes that measurements start.
func TestMain(m *testing.M) {
	if encoded := os.Getenv(roleVariable); encoded != "" {
		if err := play(encoded); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestEachMeasurement takes each with the smallest load. It looks at no figure
// beyond that it is one.
func TestEachMeasurement(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		testEachMeasurement(t, sqliteDatabase())
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		testEachMeasurement(t, postgresDatabase(postgrestest.URL(t)))
	})
}

func testEachMeasurement(t *testing.T, d database) {
	r, err := measure(t.Context(), measurements(), []database{d}, smallestSizes(), "go run ./bench all", t.Output())
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, row := range r.Rows {
		rows[row.Measurement]++
		for _, f := range row.Figures {
			if f.Value <= 0 || math.IsInf(f.Value, 0) || math.IsNaN(f.Value) {
				if f.Name != "a stream" { // the memory of four may well be less than nothing
					t.Errorf("%s, %s: %s is %v", row.Measurement, row.Case, f.Name, f.Value)
				}
			}
		}
	}
	for _, m := range measurements() {
		if rows[m.title] == 0 {
			t.Errorf("%s gave no figures", m.name)
		}
	}
	var out bytes.Buffer
	if err := r.print(&out); err != nil || !strings.Contains(out.String(), d.name) {
		t.Errorf("print: %v, and wrote\n%s", err, &out)
	}
}

func someReport() *report {
	return &report{
		Command: "go run ./bench all", Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seconds: 12.3, Machine: machine{CPU: "A CPU", Cores: 2, Memory: "4 GiB", Kernel: "6", Go: "go1", Commit: "abc"},
		Databases: []string{"SQLite 3"}, LoadBefore: "1 2 3", LoadAfter: "4 5 6",
		Rows: []row{{Measurement: "Things", Database: "SQLite", Case: "one", Figures: []figure{milliseconds("p50", 1234567), {Name: "ratio", Value: 12.345}}}},
	}
}

func TestIntoPage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte("# Before\n\n"+beginMark+"\nold\n"+endMark+"\n\nAfter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time over what the first one wrote
		if err := someReport().write(options{markdown: file}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Before\n\n" + beginMark + `

- 2026-01-02 03:04 UTC, by ` + "`go run ./bench all`" + `, in 12 seconds
- A CPU, 2 cores, 4 GiB of memory, Linux 6
- go1, commit abc, SQLite 3 on the same machine
- load averages before: 1 2 3; after: 4 5 6

### Things

| database | case | p50 | ratio |
| --- | --- | --- | --- |
| SQLite | one | 1.23 ms | 12.3 |

` + endMark + "\n\nAfter\n"
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("the page (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(file, []byte("# No marks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := someReport().write(options{markdown: file}); err == nil || !strings.Contains(err.Error(), beginMark) {
		t.Errorf("a page without marks: %v", err)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "figures.json")
	if err := someReport().write(options{json: file}); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*someReport(), got); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	times := []time.Duration{5, 1, 4, 2, 3}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.9: 5, 1: 5} {
		if got := quantile(times, share); got != want {
			t.Errorf("quantile(%v) = %d, want %d", share, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of none it is %d", got)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args, want string // in the error
	}{
		{"", "say what to measure"},
		{"--short", "say what to measure"},
		{"weather", `no measurement "weather"`},
		{"latency more", `"more" is not understood`},
		{"latency --loud", "loud"},
	} {
		err := run(t.Context(), strings.Fields(tc.args), t.Output(), t.Output())
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("bench %s: %v, want %q in it", tc.args, err, tc.want)
		}
	}
	shown := withoutSecrets([]string{"all", "--database-url", "postgres://u:secret@h/d", "--short", "-database-url=postgres://u:secret@h/d"})
	if diff := cmp.Diff([]string{"all", "--database-url", "URL", "--short", "-database-url=URL"}, shown); diff != "" {
		t.Errorf("the command line as shown (-want +got):\n%s", diff)
	}
}
