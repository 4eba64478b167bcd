package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
)

type tokenCommands struct {
	Create tokenCreate `cmd:"" help:"Make an API token, and print it. It is not shown again."`
	List   tokenList   `cmd:"" help:"List the API tokens that are not revoked, without their secrets."`
	Revoke tokenRevoke `cmd:"" help:"Revoke an API token: it works no longer, and what is open by it ends."`
}

type tokenCreate struct {
	Name        string `arg:"" help:"What it is for, so that you know it again."`
	config.Data `embed:""`
	Scope       string `required:"" enum:"read,operate,administer" placeholder:"SCOPE" help:"read, operate or administer: never more than the role of its owner allows."`
	Member      string `placeholder:"MEMBER" help:"Whose it is: the ID of a member, or their name if nobody else has it. The local operator's if it is not given, which works only where nobody signs in."`
	Days        int    `default:"90" placeholder:"N" help:"For how many days it works, 1 to 366."`
}

// Run makes the token. It alone goes to standard output, so that it can be piped into a
// store of secrets.
func (c tokenCreate) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		owner := access.LocalOperator().PersonID
		if c.Member != "" {
			found, err := findMember(ctx, r, operator(), c.Member)
			if err != nil {
				return err
			}
			owner = found.ID
		}
		made, secret, err := r.Tokens.Create(ctx, operator(), access.NewToken{
			MembershipID: owner, Name: c.Name, Scope: access.Scope(c.Scope), ExpiresAt: time.Now().AddDate(0, 0, c.Days),
		})
		if err != nil {
			return explainFields(err, map[string]string{"name": "the name", "scope": "--scope", "expiresAt": "--days", "memberId": "--member"})
		}
		_, _ = fmt.Fprintf(s.Err, "Token %s of %s, for %s, until %s. This is the only time that it is shown:\n", // what follows tells what went wrong
			made.ID, oneLine(made.MemberName), made.Scope, made.ExpiresAt.Format(time.DateOnly))
		_, err = fmt.Fprintln(s.Out, secret)
		return err
	})
}

type tokenList struct {
	config.Data `embed:""`
	JSON        bool `name:"json" help:"Print JSON."`
}

// tokenShape is a token as JSON has it.
type tokenShape struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Scope      string     `json:"scope"`
	MemberID   string     `json:"memberId"`
	MemberName string     `json:"memberName"`
	CreatedBy  string     `json:"createdBy"`
	CreatedAt  time.Time  `json:"createdAt"`
	ExpiresAt  *time.Time `json:"expiresAt"`
	UsedAt     *time.Time `json:"usedAt"`
}

// Run lists the tokens.
func (c tokenList) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		all, err := r.Tokens.List(ctx, operator(), true)
		if err != nil {
			return err
		}
		if c.JSON {
			shapes := make([]tokenShape, 0, len(all))
			for _, t := range all {
				shapes = append(shapes, tokenShape{t.ID, t.Name, string(t.Scope), t.MembershipID, t.MemberName, t.CreatedByName, t.CreatedAt, some(t.ExpiresAt), some(t.UsedAt)})
			}
			return printJSON(s.Out, map[string]any{"items": shapes}, true)
		}
		if len(all) == 0 {
			_, err := fmt.Fprintln(s.Out, "There are no tokens.")
			return err
		}
		table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tNAME\tOF\tSCOPE\tUNTIL\tLAST USED") // Flush tells what went wrong
		for _, t := range all {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, oneLine(t.Name), oneLine(t.MemberName), t.Scope, day(t.ExpiresAt), day(t.UsedAt))
		}
		return table.Flush()
	})
}

func some(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.DateOnly)
}

type tokenRevoke struct {
	ID          string `arg:"" help:"The ID that taskbay token list shows."`
	config.Data `embed:""`
}

// Run revokes the token.
func (c tokenRevoke) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		t, err := r.Tokens.Revoke(ctx, operator(), c.ID)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.Out, "The token %s of %s works no longer.\n", oneLine(t.Name), oneLine(t.MemberName))
		return err
	})
}
