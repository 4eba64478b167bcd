package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
)

type userCommands struct {
	Add     userAdd     `cmd:"" help:"Make somebody a member, so that they may sign in; or make a service account."`
	Disable userDisable `cmd:"" help:"Disable a member: their sessions end and their tokens are revoked at once."`
	Enable  userEnable  `cmd:"" help:"Let a disabled member sign in again. Tokens that were revoked stay so."`
	List    userList    `cmd:"" help:"List the members."`
}

// organisationData is what commands take that are about one organisation.
type organisationData struct {
	Organisation string `default:"local" placeholder:"ID" help:"The organisation; local if there is only that one."`
	config.Data  `embed:""`
}

func (o organisationData) operator() access.Principal { return operator().In(o.Organisation) }

type userAdd struct {
	organisationData   `embed:""`
	Issuer             string `placeholder:"URL" help:"The person's OpenID provider, exactly as it calls itself."`
	Subject            string `placeholder:"ID" help:"What the provider calls the person (sub), exactly."`
	Name               string `required:"" placeholder:"NAME" help:"As shown to other people."`
	Role               string `required:"" enum:"admin,operator,viewer" placeholder:"ROLE" help:"admin, operator or viewer."`
	Service            bool   `help:"Make a service account, which comes by API tokens and has no issuer and subject."`
	CreateOrganisation bool   `help:"Make the organisation if there is none of that ID."`
}

// Run adds the member.
func (c userAdd) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		if c.CreateOrganisation {
			if err := r.Members.AddOrganisation(ctx, c.operator(), c.Organisation, c.Organisation); err != nil {
				return explainFields(err, map[string]string{"organisation": "--organisation", "name": "--organisation"})
			}
		}
		m, err := r.Members.Add(ctx, c.operator(), access.NewMember{
			Service: c.Service, Issuer: c.Issuer, Subject: c.Subject, Name: c.Name, Role: access.Role(c.Role),
		})
		if err != nil {
			return explainFields(err, map[string]string{"issuer": "--issuer", "subject": "--subject", "name": "--name", "role": "--role"})
		}
		_, err = fmt.Fprintf(s.Out, "%s is a member of %s now, as %s. ID: %s\n", oneLine(m.Name), m.OrganisationID, m.Role, m.ID)
		return err
	})
}

// memberData is what commands take that are about one member.
type memberData struct {
	User             string `arg:"" help:"The member: their ID, their subject or their name."`
	organisationData `embed:""`
}

func (d memberData) enable(ctx context.Context, s Streams, enabled bool, said string) error {
	return withRecord(ctx, d.Data, func(r *app.Record) error {
		m, err := findMember(ctx, r, d.operator(), d.User)
		if err != nil {
			return err
		}
		if m, err = r.Members.Change(ctx, d.operator(), m.ID, access.MemberChange{Enabled: &enabled}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.Out, "%s %s\n", oneLine(m.Name), said)
		return err
	})
}

type userDisable struct {
	memberData `embed:""`
}

// Run disables the member.
func (c userDisable) Run(ctx context.Context, s Streams) error {
	return c.enable(ctx, s, false, "is disabled: their sessions have ended, and their tokens are revoked.")
}

type userEnable struct {
	memberData `embed:""`
}

// Run enables the member.
func (c userEnable) Run(ctx context.Context, s Streams) error {
	return c.enable(ctx, s, true, "may sign in again.")
}

type userList struct {
	organisationData `embed:""`
	JSON             bool `name:"json" help:"Print JSON."`
}

// Run lists the members.
func (c userList) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		all, err := r.Members.List(ctx, c.operator())
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.Out, map[string]any{"items": all}, true)
		}
		table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "NAME\tROLE\tKIND\tSTATE\tSUBJECT\tISSUER\tID") // Flush tells what went wrong
		for _, m := range all {
			state := "enabled"
			if !m.Enabled() {
				state = "disabled"
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(m.Name), m.Role, m.Kind, state, oneLine(m.Subject), oneLine(m.Issuer), m.ID)
		}
		return table.Flush()
	})
}

// findMember returns the member that a person means: by ID, subject or name.
func findMember(ctx context.Context, r *app.Record, p access.Principal, named string) (access.Member, error) {
	all, err := r.Members.List(ctx, p)
	if err != nil {
		return access.Member{}, err
	}
	var found []access.Member
	for _, m := range all {
		if m.ID == named {
			return m, nil
		}
		if m.Subject == named || strings.EqualFold(m.Name, named) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return access.Member{}, &failure{exitUsage, fmt.Errorf("there is no member %s in the organisation %s; taskbay user list shows those that there are", clipped(named), p.OrganisationID)}
	}
	return access.Member{}, &failure{exitUsage, fmt.Errorf("%d members are called %s; name the one by the ID, as taskbay user list has it", len(found), clipped(named))}
}
