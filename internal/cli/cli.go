// Package cli is the command line: thin commands over the packages that do the
// work. Everything comes in through Run, so that tests use it as people do.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agent-taskbay/taskbay/internal/config"
)

// Streams are what a command reads and writes. What a command is for goes to
// Out; everything else that it has to say goes to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Exit codes besides 0. What 1 means is the command's: form check, for one,
// answers it for a rejected form.
const (
	exitFailed = 1
	exitUsage  = 2   // the command line or an input cannot be read
	exitGaveUp = 130 // the person pressed Ctrl-C at a question
)

// failure is an error with the exit code that it ends with. An err of nil means
// that all has been said.
type failure struct {
	code int
	err  error
}

// Error returns the message of the error, if there is one.
func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

// Unwrap returns the error.
func (f *failure) Unwrap() error { return f.err }

// commands is the whole command line.
type commands struct {
	Help helpFlag `short:"h" help:"Show this help."`

	Serve      serveCommand       `cmd:"" help:"Run Taskbay. This is what taskbay does without a command."`
	Demo       demoCommand        `cmd:"" help:"Run Taskbay together with sample agents to try it with."`
	Worker     workerCommand      `cmd:"" help:"Do the work of Taskbay servers that share a PostgreSQL database, and serve nothing."`
	Migrate    migrateCommands    `cmd:"" help:"Look at the schema of a PostgreSQL database, or bring it up to date."`
	Rebuild    rebuildCommand     `cmd:"" help:"Replay what agents said, and compare it with what is shown of their tasks."`
	Backup     backupCommand      `cmd:"" help:"Write the database and the artifacts of a Taskbay on SQLite into one file."`
	Restore    restoreCommand     `cmd:"" help:"Put what a backup holds into a data directory."`
	Retention  retentionCommands  `cmd:"" help:"Purge raw observations and files of tasks that ended long ago. Off unless it is set."`
	Audit      auditCommands      `cmd:"" help:"Verify the trail of who did what, or export it."`
	DemoAgent  demoAgentCommand   `cmd:"" help:"Run only the sample agents, for a Taskbay elsewhere."`
	Credential credentialCommands `cmd:"" help:"Set, list and revoke what Taskbay shows to agents to be let in."`
	Token      tokenCommands      `cmd:"" help:"Make, list and revoke the tokens that programs call the API with."`
	User       userCommands       `cmd:"" help:"Say who may sign in, and make service accounts."`
	Grant      grantCommands      `cmd:"" help:"Say who may read and operate which agents."`
	Trust      trustCommands      `cmd:"" help:"Pin the public keys that agents' cards are signed with."`
	Form       formCommands       `cmd:"" help:"Check, answer and fill in form definitions."`
	Version    versionCommand     `cmd:"" help:"Say which version this is."`
	HelpOn     helpCommand        `cmd:"" name:"help" help:"Show this help, or that of a command."`
}

const description = `Agent Taskbay is the console for people who work with A2A agents.

taskbay demo shows it with sample agents; taskbay runs it for good.`

// Run runs the command that args ask for and returns the exit code. It returns
// early, after a clean stop, when ctx ends.
func Run(ctx context.Context, args []string, s Streams) int {
	err := run(ctx, args, s)
	if err == nil || errors.Is(err, errHelpShown) {
		return 0
	}
	code := exitFailed
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	if message := err.Error(); message != "" {
		_, _ = fmt.Fprintf(s.Err, "taskbay: %s\n", message) // nowhere is left to say that this failed
	}
	return code
}

func run(ctx context.Context, args []string, s Streams) error {
	parser, err := newParser(ctx, s)
	if err != nil {
		return fmt.Errorf("set up the command line: %w", err)
	}
	parsed, err := parser.Parse(withCommand(args))
	if err != nil {
		return usage(err)
	}
	return parsed.Run()
}

func newParser(ctx context.Context, s Streams) (*kong.Kong, error) {
	return kong.New(&commands{},
		kong.Name("taskbay"), kong.Description(description), config.Defaults(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.NoDefaultHelp(),
		kong.Writers(s.Out, s.Err), kong.Bind(s), kong.BindTo(ctx, (*context.Context)(nil)))
}

// withCommand makes the command explicit where args leave it out or ask for
// help or the version in another usual way.
func withCommand(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"serve"}
	case args[0] == "--help" || args[0] == "-h":
		return args
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	case args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	case strings.HasPrefix(args[0], "-"):
		return append([]string{"serve"}, args...)
	}
	return args
}

// usage turns a fault of the command line into what a person is told.
func usage(err error) error {
	if errors.Is(err, errHelpShown) {
		return err
	}
	var invalid *config.InvalidError
	if errors.As(err, &invalid) {
		return &failure{exitUsage, invalid}
	}
	message := strings.Replace(err.Error(), "unexpected argument", "there is no command or argument", 1)
	return &failure{exitUsage, fmt.Errorf("%s\nRun taskbay help for what there is", message)}
}

var errHelpShown = errors.New("help was shown")

// helpFlag shows the help of the command that it is given with.
type helpFlag bool

// BeforeReset shows the help and ends the parsing.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return fmt.Errorf("show the help: %w", err)
	}
	return errHelpShown
}

// helpCommand is there to be listed: withCommand turns it into the flag.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command to explain, such as form check."`
}
