package wire

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// redaction is what a header holds in the place of a secret.
const redaction = "[redacted]"

// skipped are headers that curl sets by itself.
var skipped = []string{"Content-Length", "Accept-Encoding", "User-Agent", "Host"}

// Curl returns the request of an exchange as a command for a shell, with variables
// in the place of secrets; "" if curl cannot repeat it: gRPC, a body that is not
// kept whole, or one that is no text.
func (e Exchange) Curl() string {
	if e.Method == "" || e.Binding == "GRPC" || int64(len(e.RequestBody)) < e.RequestSize || !utf8.Valid(e.RequestBody) {
		return ""
	}
	lines := []string{"curl"}
	if e.Method != "GET" {
		lines[0] += " -X " + quote(e.Method)
	}
	lines[0] += " " + quote(e.URL)
	for _, name := range slices.Sorted(maps.Keys(e.RequestHeader)) {
		if slices.Contains(skipped, name) {
			continue
		}
		for _, value := range e.RequestHeader[name] {
			lines = append(lines, "-H "+headerOf(name, value))
		}
	}
	if len(e.RequestBody) > 0 {
		lines = append(lines, "--data-binary "+quote(string(e.RequestBody)))
	}
	return strings.Join(lines, " \\\n  ")
}

// headerOf returns a header as a word. A secret becomes a variable of the header's name.
func headerOf(name, value string) string {
	if !strings.Contains(value, redaction) {
		return quote(name + ": " + value)
	}
	variable := strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		}
		return '_'
	}, name)
	return quote(name+": ") + `"$` + variable + `"`
}

// quote returns a text as one word of a POSIX shell.
func quote(text string) string {
	plain := strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,")
	if text != "" && plain == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
