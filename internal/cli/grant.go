package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/app"
)

type grantCommands struct {
	Add    grantAdd    `cmd:"" help:"Let a member, a team or everybody read or operate an agent, or one of its skills."`
	Remove grantRemove `cmd:"" help:"Take a grant back."`
	List   grantList   `cmd:"" help:"List the grants."`
}

type grantAdd struct {
	organisationData `embed:""`
	Agent            string `required:"" placeholder:"AGENT" help:"The agent: its name, its ID or the address of its card."`
	Skill            string `placeholder:"ID" help:"One skill of an agent that holds messages to skills; the whole agent if it is not given."`
	User             string `xor:"subject" placeholder:"USER" help:"To a member: their ID, their subject or their name."`
	Team             string `xor:"subject" placeholder:"TEAM" help:"To a team: its ID or its name."`
	Everybody        bool   `xor:"subject" help:"To everybody in the organisation."`
	Permission       string `required:"" enum:"read,operate" placeholder:"PERMISSION" help:"read, or operate, which includes it."`
}

// Help says what the flags mean together.
func (grantAdd) Help() string {
	return "It takes exactly one of --user, --team and --everybody."
}

// Run grants it.
func (c grantAdd) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		p := c.operator()
		a, err := findAgentOf(ctx, r, p, c.Agent)
		if err != nil {
			return err
		}
		subject, err := c.subject(ctx, r, p)
		if err != nil {
			return err
		}
		g, err := r.Grants.Add(ctx, p, access.Grant{Subject: subject, AgentID: a.ID, SkillID: c.Skill, Permission: access.Permission(c.Permission), Enabled: true})
		if err != nil {
			return explainFields(err, map[string]string{"skillId": "--skill", "agentId": "--agent", "memberId": "--user", "teamId": "--team", "permission": "--permission"})
		}
		_, err = fmt.Fprintf(s.Out, "%s may %s %s now, as far as their role allows: a viewer only reads. ID: %s\n", subjectWords(g), g.Permission, objectWords(g), g.ID)
		return err
	})
}

func (c grantAdd) subject(ctx context.Context, r *app.Record, p access.Principal) (access.Subject, error) {
	switch {
	case c.User != "":
		m, err := findMember(ctx, r, p, c.User)
		return access.Subject{MemberID: m.ID}, err
	case c.Team != "":
		teams, err := r.Teams.List(ctx, p)
		if err != nil {
			return access.Subject{}, err
		}
		for _, t := range teams {
			if t.ID == c.Team || strings.EqualFold(t.Name, c.Team) {
				return access.Subject{TeamID: t.ID}, nil
			}
		}
		return access.Subject{}, &failure{exitUsage, fmt.Errorf("there is no team %s in the organisation %s", clipped(c.Team), p.OrganisationID)}
	case c.Everybody:
		return access.Subject{}, nil
	}
	return access.Subject{}, &failure{exitUsage, errors.New("say to whom: --user, --team or --everybody")}
}

func subjectWords(g access.Grant) string {
	switch {
	case g.Subject.TeamID != "":
		return "the team " + oneLine(g.Subject.Name)
	case g.Subject.MemberID != "":
		return oneLine(g.Subject.Name)
	}
	return "everybody"
}

func objectWords(g access.Grant) string {
	if g.SkillID == "" {
		return oneLine(g.AgentName)
	}
	return oneLine(g.AgentName) + " by its skill " + oneLine(g.SkillID)
}

type grantRemove struct {
	Grant            string `arg:"" help:"The ID of the grant, as taskbay grant list has it."`
	organisationData `embed:""`
}

// Run takes it back.
func (c grantRemove) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		g, err := r.Grants.Remove(ctx, c.operator(), c.Grant)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.Out, "That %s may %s %s is taken back.\n", subjectWords(g), g.Permission, objectWords(g))
		return err
	})
}

type grantList struct {
	organisationData `embed:""`
	JSON             bool `name:"json" help:"Print JSON."`
}

// Run lists the grants.
func (c grantList) Run(ctx context.Context, s Streams) error {
	return withRecord(ctx, c.Data, func(r *app.Record) error {
		all, err := r.Grants.List(ctx, c.operator())
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.Out, map[string]any{"items": all}, true)
		}
		if len(all) == 0 {
			_, err := fmt.Fprintln(s.Out, "Nothing is granted: only administrators see agents.")
			return err
		}
		table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "TO\tMAY\tAGENT\tSKILL\tSTATE\tID") // Flush tells what went wrong
		for _, g := range all {
			state := "on"
			if !g.Enabled {
				state = "off"
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", subjectWords(g), g.Permission, oneLine(g.AgentName), oneLine(g.SkillID), state, g.ID)
		}
		return table.Flush()
	})
}
