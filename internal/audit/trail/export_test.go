package trail

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/audit"
)

// TestNoCellIsAFormula: a name that an agent or a person chose does nothing in the
// spreadsheet of whoever opens an export.
func TestNoCellIsAFormula(t *testing.T) {
	t.Parallel()
	names := []string{"=1+1", "+1", "-1", "@SUM(1)", "\tx", "\rx", "\nx", "＝1", "＋1", "－1", "＠x", " =1", "\u00a0=1", "\u3000=1", `"=1"`, "plain", "a=b", "", "x;=1", "x; +1", "x|@y"}
	var out bytes.Buffer
	write, flush := writeCSV(&out)
	for _, name := range names {
		if err := write(audit.Sealed{Entry: audit.Entry{ObjectName: name, Detail: map[string]string{"a": "b"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := flush(); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != len(names)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		if len(row) != len(columns) {
			t.Errorf("row %d has %d cells, want %d", i, len(row), len(columns))
		}
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(firstOf(strings.TrimLeft(cell, " \u00a0\u3000")), formula) {
				t.Errorf("a cell begins as a formula does: %q", cell)
			}
		}
	}
	for i, name := range []string{"x;'=1", "x; '+1", "x|'@y"} {
		if got := rows[len(rows)-3+i][20]; got != name {
			t.Errorf("what stands behind a separator is exported as %q, want %q", got, name)
		}
	}
	if got := rows[1][20]; got != "'=1+1" {
		t.Errorf("the name %q is exported as %q", names[0], got)
	}
}

// TestAnEmptyExportHasItsColumns: and no entry.
func TestAnEmptyExportHasItsColumns(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	_, flush := writeCSV(&out)
	if err := flush(); err != nil || out.String() != strings.Join(columns, ",")+"\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
