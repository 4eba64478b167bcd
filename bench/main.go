// Bench measures Taskbay on this machine: how soon a command is at its agent, how
// many there can be, what an event costs, how many streams one process holds, how
// soon a browser knows, and how fast the lists of a long record are. It asserts
// nothing: docs/performance.md says how to read what it prints. Every load ends by
// itself, and none leaves this machine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if encoded := os.Getenv(roleVariable); encoded != "" {
		if err := play(encoded); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measurement is one of the commands.
type measurement struct {
	name, title string
	take        func(context.Context, *bench) error
}

func measurements() []measurement {
	return []measurement{
		{"latency", "From the API call to the agent's receipt", measureLatency},
		{"commands", "Commands accepted and delivered", measureCommands},
		{"ingest", "Events taken in", measureIngest},
		{"history", "One event on a task with a history", measureHistory},
		{"streams", "Streams held by one process", measureStreams},
		{"watchers", "From the commit of a change to the watcher", measureWatchers},
		{"tasks", "Lists of tasks", measureTasks},
	}
}

// options are what the command line says.
type options struct {
	databaseURL, json, markdown string
	tasks                       int
	short                       bool
}

const usage = `Usage: go run ./bench COMMAND [flags]

Commands:
  all        every measurement below, on SQLite and on PostgreSQL
`

func parse(args []string, stderr io.Writer) (wanted []measurement, o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.databaseURL, "database-url", "", "measure on this PostgreSQL server too, in schemas that are made for the run and dropped")
	flags.StringVar(&o.json, "json", "", "write the figures to this file as JSON")
	flags.StringVar(&o.markdown, "markdown", "", "put the figures between the marks in this page")
	flags.IntVar(&o.tasks, "tasks", 0, "how many tasks the lists are of (default 1000000)")
	flags.BoolVar(&o.short, "short", false, "smaller loads, for a first look")
	flags.Usage = func() {
		_, _ = fmt.Fprint(stderr, usage)
		for _, m := range measurements() {
			_, _ = fmt.Fprintf(stderr, "  %-10s %s\n", m.name, m.title)
		}
		_, _ = fmt.Fprintln(stderr, "\nFlags:")
		flags.PrintDefaults()
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		flags.Usage()
		return nil, o, errors.New("say what to measure")
	}
	for _, m := range measurements() {
		if args[0] == "all" || args[0] == m.name {
			wanted = append(wanted, m)
		}
	}
	if wanted == nil {
		return nil, o, fmt.Errorf("there is no measurement %q: run bench without arguments for a list", args[0])
	}
	if err := flags.Parse(args[1:]); err != nil {
		return nil, o, err
	}
	if flags.NArg() > 0 {
		return nil, o, fmt.Errorf("%q is not understood: the command comes first, and then flags", flags.Arg(0))
	}
	return wanted, o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	wanted, o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	size := fullSizes()
	if o.short {
		size = shortSizes()
	}
	if o.tasks > 0 {
		size.tasks = o.tasks
	}
	databases := []database{sqliteDatabase()}
	if o.databaseURL == "" {
		_, _ = fmt.Fprintln(stderr, "bench: PostgreSQL is SKIPPED: name a server with --database-url")
	} else {
		databases = append(databases, postgresDatabase(o.databaseURL))
	}
	command := "go run ./bench " + strings.Join(withoutSecrets(args), " ")
	r, err := measure(ctx, wanted, databases, size, command, stderr)
	if err := errors.Join(err, r.print(stdout)); err != nil { // what there is, also of a run that broke off
		return err
	}
	return r.write(o)
}

// measure takes the measurements on each database, one after the other. With an
// error it returns what was measured before.
func measure(ctx context.Context, wanted []measurement, databases []database, size sizes, command string, progress io.Writer) (*report, error) {
	r := &report{Command: command, Machine: thisMachine(ctx), Began: time.Now().UTC()}
	for _, d := range databases {
		version, err := d.version(ctx)
		if err != nil {
			return r, fmt.Errorf("%s: %w", d.name, err)
		}
		r.Databases = append(r.Databases, d.name+" "+version)
	}
	r.LoadBefore = load()
	for _, m := range wanted {
		for _, d := range databases {
			began := time.Now()
			b := &bench{size: size, database: d, report: r, title: m.title}
			err := b.inPlace(ctx, m.take)
			if err != nil {
				return r, fmt.Errorf("%s on %s: %w", m.name, d.name, err)
			}
			_, _ = fmt.Fprintf(progress, "bench: %s on %s took %s\n", m.name, d.name, time.Since(began).Round(100*time.Millisecond))
		}
	}
	r.LoadAfter = load()
	r.Seconds = time.Since(r.Began).Seconds()
	return r, nil
}

// bench is one measurement on one database, in a place of its own.
type bench struct {
	size     sizes
	database database
	place    place
	report   *report
	title    string
}

func (b *bench) inPlace(ctx context.Context, take func(context.Context, *bench) error) (err error) {
	at, remove, err := b.database.makePlace(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	b.place = at
	return take(ctx, b)
}

// add puts figures in the report.
func (b *bench) add(what string, figures ...figure) {
	b.report.Rows = append(b.report.Rows, row{Measurement: b.title, Database: b.database.name, Case: what, Figures: figures})
}

// withoutSecrets is a command line to be shown: the URL of a database may hold a
// password.
func withoutSecrets(args []string) []string {
	shown := slices.Clone(args)
	for i, a := range shown {
		if name, _, found := strings.Cut(a, "="); found && strings.HasSuffix(name, "-database-url") {
			shown[i] = name + "=URL"
		}
		if i > 0 && strings.HasSuffix(shown[i-1], "-database-url") {
			shown[i] = "URL"
		}
	}
	return shown
}

// write puts the report where the options say.
func (r *report) write(o options) error {
	if o.json != "" {
		encoded, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(encoded, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.markdown != "" {
		return r.intoPage(o.markdown)
	}
	return nil
}
