package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// report is all figures of a run, and what it ran on.
type report struct {
	Command    string    `json:"command"`
	Began      time.Time `json:"began"`
	Seconds    float64   `json:"seconds"`
	Machine    machine   `json:"machine"`
	Databases  []string  `json:"databases"`
	LoadBefore string    `json:"loadBefore"` // the kernel's averages of 1, 5 and 15 minutes
	LoadAfter  string    `json:"loadAfter"`
	Rows       []row     `json:"rows"`
}

// row is what one case of a measurement gave on one database.
type row struct {
	Measurement string   `json:"measurement"`
	Database    string   `json:"database"`
	Case        string   `json:"case"`
	Figures     []figure `json:"figures"`
}

// figure is one value; all rows of a measurement have the same ones.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}

// milliseconds is a time as a figure.
func milliseconds(name string, d time.Duration) figure {
	return figure{name, float64(d) / float64(time.Millisecond), "ms"}
}

// quantiles are p50, p90 and p99 of times, whose order it changes.
func quantiles(times []time.Duration) []figure {
	return []figure{
		milliseconds("p50", quantile(times, 0.5)), milliseconds("p90", quantile(times, 0.9)), milliseconds("p99", quantile(times, 0.99)),
	}
}

// quantile is the least time that a share of the times does not exceed; 0 of none.
func quantile(times []time.Duration, share float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.SortFunc(times, cmp.Compare)
	return times[max(int(math.Ceil(share*float64(len(times))))-1, 0)]
}

// perSecond is how many there were a second.
func perSecond(name string, n int, took time.Duration) figure {
	return figure{name, float64(n) / took.Seconds(), "/s"}
}

// String is the value with three digits that count.
func (f figure) String() string {
	digits := 0
	if v := math.Abs(f.Value); v > 0 && v < 100 && v != math.Trunc(v) {
		digits = 2 - int(math.Floor(math.Log10(v)))
	}
	text := strconv.FormatFloat(f.Value, 'f', min(digits, 4), 64)
	if f.Unit == "" || f.Unit == "/s" {
		return text + f.Unit
	}
	return text + " " + f.Unit
}

// facts says what the run was on, a line each.
func (r *report) facts() []string {
	return []string{
		fmt.Sprintf("%s, by `%s`, in %.0f seconds", r.Began.Format("2006-01-02 15:04 MST"), r.Command, r.Seconds),
		fmt.Sprintf("%s, %d cores, %s of memory, Linux %s", r.Machine.CPU, r.Machine.Cores, r.Machine.Memory, r.Machine.Kernel),
		fmt.Sprintf("%s, commit %s, %s on the same machine", r.Machine.Go, r.Machine.Commit, strings.Join(r.Databases, ", ")),
		fmt.Sprintf("load averages before: %s; after: %s", r.LoadBefore, r.LoadAfter),
	}
}

// tables calls f with the rows of each measurement, in order.
func (r *report) tables(f func(title string, rows []row)) {
	var titles []string
	of := map[string][]row{}
	for _, row := range r.Rows {
		if of[row.Measurement] == nil {
			titles = append(titles, row.Measurement)
		}
		of[row.Measurement] = append(of[row.Measurement], row)
	}
	for _, title := range titles {
		f(title, of[title])
	}
}

func (r row) cells() []string {
	cells := []string{r.Database, r.Case}
	for _, f := range r.Figures {
		cells = append(cells, f.String())
	}
	return cells
}

func (r row) head() []string {
	cells := []string{"database", "case"}
	for _, f := range r.Figures {
		cells = append(cells, f.Name)
	}
	return cells
}

// print writes the report as tables for a terminal.
func (r *report) print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, fact := range r.facts() {
		_, _ = fmt.Fprintln(w, strings.ReplaceAll(fact, "`", ""))
	}
	r.tables(func(title string, rows []row) {
		_, _ = fmt.Fprintf(w, "\n%s\n", title)
		_, _ = fmt.Fprintln(w, strings.Join(rows[0].head(), "\t"))
		for _, row := range rows {
			_, _ = fmt.Fprintln(w, strings.Join(row.cells(), "\t"))
		}
	})
	return w.Flush() // which has kept the first error of all
}

// The marks in a page between which the figures stand.
const (
	beginMark = "<!-- figures: begin -->"
	endMark   = "<!-- figures: end -->"
)

// intoPage replaces what stands between the marks of a page.
func (r *report) intoPage(file string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begins := bytes.Cut(page, []byte(beginMark))
	_, after, ends := bytes.Cut(rest, []byte(endMark))
	if !begins || !ends {
		return fmt.Errorf("%s has no place for figures: it needs the lines %s and %s", file, beginMark, endMark)
	}
	return os.WriteFile(file, slices.Concat(before, []byte(beginMark+"\n"), r.markdown(), []byte(endMark), after), 0o644)
}

func (r *report) markdown() []byte {
	var b bytes.Buffer
	b.WriteByte('\n')
	for _, fact := range r.facts() {
		fmt.Fprintf(&b, "- %s\n", fact)
	}
	r.tables(func(title string, rows []row) {
		head := rows[0].head()
		fmt.Fprintf(&b, "\n### %s\n\n| %s |\n|%s\n", title, strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row.cells(), " | "))
		}
	})
	b.WriteByte('\n')
	return b.Bytes()
}
