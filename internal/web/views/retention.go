package views

import (
	"strconv"

	"github.com/agent-taskbay/taskbay/internal/retention"
)

// RetentionPage is where an administrator says for how long things are kept.
type RetentionPage struct {
	Shell   Shell
	Setting retention.Setting
	Due     retention.Found // by what is set

	Entered string // days
	Faults  Faults

	TriedDays int64 // 0 if nothing was counted
	Tried     retention.Found

	Ran        bool // something was purged just now, or would have been
	Purged     retention.Found
	Unfinished bool // there was more than could be waited for
}

// retentionWords says what is set.
func retentionWords(s retention.Setting) string {
	if s.Days == 0 {
		return "Everything is kept for ever."
	}
	return "Raw observations and files of tasks that ended are purged " + plural(int(s.Days), "day") + " after their last change."
}

// foundWords says how much something is: "3 tasks: 20 observations (4.1 kB) and no file".
func foundWords(f retention.Found) string {
	files := "no file"
	if f.Artifacts > 0 {
		files = plural(int(f.Artifacts), "file") + " (" + byteSize(f.ArtifactBytes) + ")"
	}
	return plural(int(f.Tasks), "task") + ": " + plural(int(f.Events), "observation") + " (" + byteSize(f.Bytes) + ") and " + files
}

// triedWords says what would be purged.
func triedWords(p RetentionPage) string {
	after := plural(int(p.TriedDays), "day")
	if p.Tried.Tasks == 0 {
		return "With " + after + ", nothing would be purged now: no task that has ended was last changed that long ago."
	}
	return "With " + after + ", this would be purged now, of " + foundWords(p.Tried) + ". Nothing was changed yet."
}

// purgedWords says what was purged just now.
func purgedWords(p RetentionPage) string {
	words := "Nothing was to be purged."
	if p.Purged != (retention.Found{}) {
		words = "Purged, of " + foundWords(p.Purged) + "."
	}
	if p.Unfinished {
		words += " There is more: purge again, or leave it to the daily purge."
	}
	return words
}

// purgeLabel is on the button that purges.
func purgeLabel(due retention.Found) string {
	return "Purge " + plural(int(due.Tasks), "task") + " now"
}

// maxDays is the longest time that can be entered.
func maxDays() string { return strconv.Itoa(retention.MaxDays) }
