package fault_test

import (
	"errors"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

func TestErrorSaysEverythingOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		message string
		cause   error
		want    string
	}{
		"no cause":               {"It is asleep.", nil, "It is asleep."},
		"another cause":          {"It is asleep.", errors.New("dial tcp: timeout"), "It is asleep: dial tcp: timeout"},
		"the cause is said":      {"The proxy says: no route.", errors.New("no route"), "The proxy says: no route."},
		"the message is said":    {"It is asleep.", errors.New("It is asleep: since noon"), "It is asleep: since noon"},
		"a cause of its own":     {"It is asleep.", fault.New(fault.Unavailable, "It is asleep."), "It is asleep."},
		"several layers of it":   {"It is asleep.", fault.Wrap(errors.New("since noon"), fault.Unavailable, "It is asleep."), "It is asleep: since noon"},
		"a message without stop": {"It is asleep", errors.New("since noon"), "It is asleep: since noon"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := &fault.Error{Kind: fault.Unavailable, Message: tc.message, Err: tc.cause}
			if got := err.Error(); got != tc.want {
				t.Errorf("Error() = %q, want %q", got, tc.want)
			}
		})
	}
}
