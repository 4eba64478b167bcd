package agent

import "strings"

// cut shortens s to limit code points.
func cut(s string, limit int) string {
	for i := range s {
		if limit == 0 {
			return s[:i]
		}
		limit--
	}
	return s
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// isMediaType reports whether s has the form of a media type, wildcards
// included.
func isMediaType(s string) bool {
	kind, sub, ok := strings.Cut(s, "/")
	return ok && kind != "" && sub != "" && !strings.ContainsAny(s, " \t\r\n")
}
