package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"

	"github.com/agent-taskbay/taskbay/internal/cli"
)

// screen is the person's end of a terminal: what it shows, and a way to wait for
// that.
type screen struct {
	t        *testing.T
	person   *os.File
	mu       sync.Mutex
	changed  *sync.Cond
	terminal *vt.Emulator
	stopped  bool
	reading  sync.WaitGroup
	all      bytes.Buffer // everything that the program wrote
}

// newScreen returns a terminal of 80 columns, and the program's end of it.
func newScreen(t *testing.T) (*screen, *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("no terminal: %v", err)
	}
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, person: person, terminal: vt.NewEmulator(80, 24)}
	s.changed = sync.NewCond(&s.mu)
	s.reading.Go(s.read)
	go func() { _, _ = io.Copy(person, s.terminal) }() // what a terminal answers to a program's questions
	return s, program
}

// read shows what the program writes until its end is closed.
func (s *screen) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := s.person.Read(buffer)
		s.mu.Lock()
		s.all.Write(buffer[:n])
		_, _ = s.terminal.Write(buffer[:n])
		s.stopped = err != nil
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await blocks until the screen shows all of these texts.
func (s *screen) await(texts ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.shows(texts) {
		if s.stopped {
			s.t.Errorf("the screen never showed %q; at last it showed:\n%s", texts, s.terminal)
			return
		}
		s.changed.Wait()
	}
}

func (s *screen) shows(texts []string) bool {
	shown := s.terminal.String()
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(shown, text) })
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Errorf("press %q: %v", keys, err)
	}
}

// fillOnScreen runs form fill on a terminal while person plays its part.
func fillOnScreen(t *testing.T, person func(*screen)) (code int, out string) {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "1")
	s, program := newScreen(t)
	var acted sync.WaitGroup
	acted.Go(func() { person(s) })
	var answer bytes.Buffer
	code = cli.Run(t.Context(), []string{"form", "fill", remarkable}, cli.Streams{In: program, Out: &answer, Err: program})
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	acted.Wait()
	s.reading.Wait()
	if err := s.person.Close(); err != nil {
		t.Fatal(err)
	}
	if all := s.all.String(); strings.Contains(all, "\x1b[31mred") || strings.Contains(all, "\u202e") {
		t.Errorf("the agent steered the terminal: %q", all)
	}
	return code, answer.String()
}

const (
	enter = "\r"
	down  = "\x1b[B"
	left  = "\x1b[D"
	back  = "\x7f"
)

func TestFormFillOnScreen(t *testing.T) {
	code, out := fillOnScreen(t, func(s *screen) {
		s.await("1 of 6", "Environment", "> (choose one: arrow keys, then Enter)", "Staging", "Production[U+202E right-to-left override]")
		s.press(enter)
		s.await("Required: choose one of the options")
		s.press(down + enter)
		s.await("2 of 6", "required; at least 1; at most 10", "> 2")
		s.press(back + "11" + enter)
		s.await("At most 10")
		s.press(back + back + "7" + enter)
		s.await("3 of 6", `One  "b"`)
		s.press(enter)
		s.await("4 of 6", "Note [U+001B escape][31mred")
		s.press("hello\nworld") // a line feed is ctrl+j
		s.await("world")
		s.press(enter)
		s.await("5 of 6", "> x")
		s.press(enter)
		s.await("6 of 6", "No")
		s.press(left + enter)
	})
	if want := `{"env":"staging","replicas":7,"note":"hello\nworld","name":"x","dry":true}` + "\n"; code != 0 || out != want {
		t.Errorf("form fill on a terminal = %d, %s; want %s", code, out, want)
	}
}

func TestFormFillGivenUp(t *testing.T) {
	code, out := fillOnScreen(t, func(s *screen) {
		s.await("1 of 6")
		s.press("\x03")
		s.await("given up")
	})
	if code != 130 || out != "" {
		t.Errorf("form fill after Ctrl-C = %d, %q; want exit code 130 and nothing printed", code, out)
	}
}
