package form_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/form"
)

// TestHostileMemory reads the worst definitions one after the other, because it measures what the
// whole process allocates.
func TestHostileMemory(t *testing.T) {
	const most = 12 // bytes allocated for each byte of definition
	for name, definition := range hostileDefinitions() {
		t.Run(name, func(t *testing.T) {
			if json.Valid(definition) == (name == "too deep") {
				t.Fatal("the definition does not reach what it is made for")
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			form.Inspect(definition)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > uint64(most*len(definition)) {
				t.Errorf("allocated %d bytes for a definition of %d", got, len(definition))
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	definition := []byte(`{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`)
	padded := append(definition, strings.Repeat(" ", form.MaxDefinitionBytes-len(definition))...)
	if report := form.Inspect(padded); !report.Accepted {
		t.Errorf("a definition of the largest size is rejected: %v", report.Reasons)
	}
	if report := form.Inspect(append(padded, ' ')); report.Accepted || !hasPath(report.Reasons, "") {
		t.Errorf("one byte more is accepted, or the reason is not at the root: %v", report.Reasons)
	}
}

// hostileDefinitions are as large as a definition may be.
func hostileDefinitions() map[string][]byte {
	fill := func(before, unit, after string) []byte {
		room := form.MaxDefinitionBytes - len(before) - len(after)
		return []byte(before + strings.Repeat(unit, room/len(unit)) + after)
	}
	field := func(members string) string {
		return `{"schema":{"type":"object","properties":{"a":{` + members
	}
	return map[string][]byte{
		"root members":    fill(`{`, `"a":0,`, `"schema":0}`),
		"nested ignored":  fill(`{"x":`+strings.Repeat("[", 9_000), ` `, strings.Repeat("]", 9_000)+`}`),
		"too deep":        fill(``, `[`, ``),
		"properties":      fill(`{"schema":{"type":"object","properties":{`, `"":0,`, `"a":{}}}}`),
		"order":           fill(`{"order":[`, `"b",`, `"a"],"schema":{"type":"object","properties":{"a":{"type":"string"}}}}`),
		"required":        fill(`{"schema":{"required":[`, `0,`, `0],"type":"object","properties":{"a":{"type":"string"}}}}`),
		"field members":   fill(field(`"type":"string"`), `,"typ":0`, `}}}}`),
		"options":         fill(field(`"enum":[`), `"",`, `""]}}}}`),
		"labels":          fill(field(`"enum":["a"],"enumNames":[`), `0,`, `0]}}}}`),
		"long number":     fill(field(`"type":"integer","minimum":`), `1`, `}}}}`),
		"long fraction":   fill(field(`"type":"integer","maximum":0.`), `1`, `}}}}`),
		"long exponent":   fill(field(`"type":"number","default":1e-`), `1`, `}}}}`),
		"long default":    fill(field(`"type":"string","default":"`), `x`, `"}}}}`),
		"hidden default":  fill(field(`"type":"string","default":"`), "\u200b\u202e", `"}}}}`),
		"foreign hosts":   fill(field(`"type":"string","default":"`), "аb.", `"}}}}`),
		"foreign words":   fill(field(`"type":"string","default":"`), "сом.cо ", `"}}}}`),
		"long key":        fill(`{"schema":{"type":"object","properties":{"`, `x`, `":{"a":1,"b":2,"c":3}}}}`),
		"one long option": fill(field(`"enum":["`), `\u0041`, `"]}}}}`),
		"markup":          fill(field(`"type":"string","description":"`), `<a`, `"}}}}`),
	}
}
