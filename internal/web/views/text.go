package views

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// Limits of what a page shows of one part. What is cut off is still in the
// record and in the API.
const (
	longText   = 4_000   // characters above which a text is folded
	longData   = 1_500   // bytes above which data is folded
	shownBytes = 256_000 // bytes of one part
	fewReasons = 3       // why a form is none, above which they are folded
)

// shownText is a text cut to what a page shows, and whether it was cut.
func shownText(s string) (text string, cut bool) {
	if len(s) <= shownBytes {
		return s, false
	}
	end := shownBytes
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], true
}

// lead returns the first characters of a long text, ending at a line or word.
func lead(s string) string {
	head := strings.TrimSuffix(clip(s, 600), "…")
	if at := strings.LastIndexAny(head, " \n"); at > 400 {
		head = head[:at]
	}
	return head + " …"
}

func isLong(s string) bool { return utf8.RuneCountInString(s) > longText }

// maxIndented is how deeply JSON may nest to be laid out: the room that the
// indentation takes grows with the square of the depth.
const maxIndented = 64

// indented lays JSON out over lines and changes no digit and no escape. What is
// no JSON, or nests too deeply, is returned as it is.
func indented(raw json.RawMessage) string {
	if rawjson.Depth(raw) > maxIndented {
		return string(raw)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return string(raw)
	}
	return out.String()
}

// byteSize writes a size for people.
func byteSize(n int64) string {
	switch {
	case n < 1_000:
		return strconv.FormatInt(n, 10) + " bytes"
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// machineTime is a time as the datetime attribute has it.
func machineTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// plainTime is a time for people whose zone is not known.
func plainTime(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// exactTime is plainTime to the second.
func exactTime(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 UTC") }

// host returns the host of an address, or the address if it has none.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// plural writes a number and its noun: "1 skill", "2 skills".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func noteSymbol(kind string) string {
	switch kind {
	case "success":
		return "done"
	case "warning", "danger":
		return "alert"
	}
	return "info"
}

// invalid is the value of aria-invalid: without one, browsers take what is entered for
// right.
func invalid(is bool) string {
	if is {
		return "true"
	}
	return "false"
}

// withQuery is an address with those of the parameters that are not empty.
func withQuery(path string, query map[string]string) string {
	values := url.Values{}
	for name, value := range query {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}
