package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// more stands for whatever else there is: at the end of a text or an array, or as
// a member.
const more = "…"

// varying is what differs from run to run, each with what stands for it.
var varying = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`"version": ?\d+`), `"version":0`},
	{regexp.MustCompile(`(?m)^id: \d+$`), "id: 0"},
}

// differs returns where an answer differs from the documented one, or "". IDs,
// times and versions may be any.
func differs(documented, answer string) string {
	for _, v := range varying {
		documented = v.pattern.ReplaceAllLiteralString(documented, v.name)
		answer = v.pattern.ReplaceAllLiteralString(answer, v.name)
	}
	if head(documented) != head(answer) {
		return fmt.Sprintf("want the beginning\n%s\nbut it is\n%s", head(documented), head(answer))
	}
	var want, got any
	if err := json.Unmarshal([]byte(body(documented)), &want); err != nil {
		return fmt.Sprintf("the documented answer is not JSON: %v", err)
	}
	if err := json.Unmarshal([]byte(body(answer)), &got); err != nil {
		return fmt.Sprintf("the answer is not JSON: %v", err)
	}
	return compare("", want, got)
}

// head returns what stands before the JSON of an answer, and body the JSON.
func head(answer string) string { return answer[:len(answer)-len(body(answer))] }

func body(answer string) string { return answer[strings.Index(answer, "{"):] }

// compare returns the first difference of a value from the documented one.
func compare(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return compareObjects(path, want, got)
		}
	case []any:
		if got, ok := got.([]any); ok {
			return compareArrays(path, want, got)
		}
	case string:
		start, cut := strings.CutSuffix(want, more)
		if got, ok := got.(string); ok && cut && strings.HasPrefix(got, start) {
			return ""
		}
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%s: want %v, but it is %v", path, want, got)
}

func compareObjects(path string, want, got map[string]any) string {
	_, open := want[more]
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, documented := want[name]; !documented && !open {
			return fmt.Sprintf("%s/%s is not documented", path, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, there := got[name]
		if name == more {
			continue
		}
		if !there {
			return fmt.Sprintf("%s/%s is not there", path, name)
		}
		if difference := compare(path+"/"+name, want[name], value); difference != "" {
			return difference
		}
	}
	return ""
}

func compareArrays(path string, want, got []any) string {
	open := len(want) > 0 && want[len(want)-1] == more
	if open {
		want = want[:len(want)-1]
	}
	if len(got) < len(want) || len(got) > len(want) && !open {
		return fmt.Sprintf("%s has %d elements, want %d", path, len(got), len(want))
	}
	for i := range want {
		if difference := compare(fmt.Sprintf("%s/%d", path, i), want[i], got[i]); difference != "" {
			return difference
		}
	}
	return ""
}

func TestDiffers(t *testing.T) {
	t.Parallel()
	same := map[string]string{
		`{"id": "01a230ca-f655-7712-9a90-5a44a3e00e7d"}`: `{"id":"00000000-0000-0000-0000-000000000000"}`,
		`{"at": "2026-12-01T08:50:00.855036Z"}`:          `{"at":"2030-01-01T00:00:00Z"}`,
		`{"a": 1, "…": "…"}`:                             `{"b":2,"a":1}`,
		`{"a": [1, "…"]}`:                                `{"a":[1,2,3]}`,
		`{"a": "begins …"}`:                              `{"a":"begins and ends"}`,
		"event: x\nid: 3\ndata: {}":                      "event: x\nid: 4\ndata: {}",
	}
	for documented, answer := range same {
		if got := differs(documented, answer); got != "" {
			t.Errorf("differs(%s, %s) = %q, want none", documented, answer, got)
		}
	}
	other := map[string]string{
		`{"a": 1}`:                  `{"a":1,"b":2}`,
		`{"a": 1, "b": 2}`:          `{"a":1}`,
		`{"a": 1, "…": "…", "c":1}`: `{"a":1}`,
		`{"a": "1"}`:                `{"a":1}`,
		`{"a": null}`:               `{"a":0}`,
		`{"a": [1]}`:                `{"a":[1,2]}`,
		`{"a": [1, 2, "…"]}`:        `{"a":[1]}`,
		`{"a": "begins …"}`:         `{"a":"other"}`,
		"HTTP/1.1 200 OK\n\n{}":     "HTTP/1.1 201 Created\n\n{}",
		`{"at": "TIME"}`:            `{"at":"yesterday"}`,
		`{"a": {"b": [{"c": 1}]}}`:  `{"a":{"b":[{"c":2}]}}`,
	}
	for documented, answer := range other {
		if differs(documented, answer) == "" {
			t.Errorf("differs(%s, %s) finds no difference", documented, answer)
		}
	}
}
