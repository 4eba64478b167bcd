package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agent-taskbay/taskbay/internal/agent"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

type trustCommands struct {
	Pin    trustPin    `cmd:"" help:"Trust a public key for the cards of an origin."`
	List   trustList   `cmd:"" help:"List the keys that cards may be signed with, and the agents whose cards are not accepted."`
	Remove trustRemove `cmd:"" help:"Trust a key no longer."`
}

type trustPin struct {
	Origin      string `arg:"" help:"Where the cards are, such as https://agents.example.com."`
	Key         string `arg:"" help:"File with the public key, as PEM or as a JSON Web Key; - for standard input."`
	config.Data `embed:""`
	KeyID       string    `name:"key-id" placeholder:"KID" help:"The kid that signatures name the key by. Any if it is not given."`
	Until       time.Time `required:"" format:"2006-01-02" placeholder:"YYYY-MM-DD" help:"Until when it is trusted, within five years."`
}

// Run pins the key.
func (c trustPin) Run(ctx context.Context, s Streams) error {
	key, err := readAll(c.Key, s)
	if err != nil {
		return &failure{exitUsage, err}
	}
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		pin, err := r.Agents.Pin(ctx, operator(), c.Origin, string(key), c.KeyID, c.Until)
		if err != nil {
			return explainFields(err, map[string]string{"origin": "the origin", "key": "the key", "expiresAt": "--until"})
		}
		_, err = fmt.Fprintf(s.Out, "Cards at %s may be signed with the %s key %s until %s.\n", pin.Origin, pin.Key.Algorithm(), pin.Key.Thumbprint(), pin.ExpiresAt.Format(time.DateOnly))
		return err
	})
}

type trustList struct {
	config.Data `embed:""`
}

// Run lists the pins.
func (c trustList) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		pins, err := r.Agents.Pins(ctx, operator())
		if err != nil {
			return err
		}
		if len(pins) == 0 {
			_, _ = fmt.Fprintln(s.Out, "No key is pinned.") // what follows tells what went wrong
			return listDistrusted(ctx, s.Out, r)
		}
		table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tORIGIN\tALGORITHM\tKEY\tKEY ID\tUNTIL") // Flush tells what went wrong
		for _, pin := range pins {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", pin.ID, pin.Origin, pin.Key.Algorithm(), pin.Key.Thumbprint(), oneLine(pin.Key.ID), pin.ExpiresAt.Format(time.DateOnly))
		}
		return errors.Join(table.Flush(), listDistrusted(ctx, s.Out, r))
	})
}

// maxDistrusted is how many agents are listed with what is wrong with their cards.
const maxDistrusted = 20

// listDistrusted says of which agents a card was not accepted, or keeps them from
// being called, for its signatures.
func listDistrusted(ctx context.Context, out io.Writer, r *app.Record) error {
	all, err := r.Agents.List(ctx, operator())
	if err != nil {
		return err
	}
	var text strings.Builder
	count := 0
	for _, a := range all {
		var whys []string
		if a.Health.Status == agent.HealthMismatch {
			whys = append(whys, a.Health.Error)
		}
		if a.Distrust != "" {
			whys = append(whys, a.Distrust)
		}
		if len(whys) == 0 {
			continue
		}
		if count++; count <= maxDistrusted {
			_, _ = fmt.Fprintf(&text, "\n%s, %s\n  %s\n", oneLine(a.Name), a.CardURL, strings.Join(whys, "\n  "))
		}
	}
	if more := count - maxDistrusted; more > 0 {
		_, _ = fmt.Fprintf(&text, "\nand %d more\n", more)
	}
	_, err = io.WriteString(out, text.String())
	return err
}

type trustRemove struct {
	ID          string `arg:"" help:"The ID that taskbay trust list shows."`
	config.Data `embed:""`
}

// Run removes a pin.
func (c trustRemove) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		if err := r.Agents.Unpin(ctx, operator(), c.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.Out, "The key is trusted no longer.")
		return err
	})
}

// explainFields says what of a command is at fault. names are those of the
// locations of an error's fields.
func explainFields(err error, names map[string]string) error {
	public := fault.Public(err)
	if len(public.Fields) == 0 {
		return err
	}
	text := public.Message
	for _, f := range public.Fields {
		text += fmt.Sprintf("\n  %s: %s", names[f.Location], f.Message)
	}
	return fmt.Errorf("%s", text)
}
