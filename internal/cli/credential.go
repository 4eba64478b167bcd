package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/agent-taskbay/taskbay/internal/app"
	"github.com/agent-taskbay/taskbay/internal/config"
	"github.com/agent-taskbay/taskbay/internal/credential"
	"github.com/agent-taskbay/taskbay/internal/credential/scheme"
)

type credentialCommands struct {
	Set    credentialSet    `cmd:"" help:"Set what Taskbay shows to an agent to be let in; the secret is asked for, or read from standard input."`
	Revoke credentialRevoke `cmd:"" help:"Revoke an agent's credential: the agent is not called until another is set."`
	Rotate credentialRotate `cmd:"" help:"Encrypt every credential with the active key of the vault. Servers may run meanwhile."`
	List   credentialList   `cmd:"" help:"List the credentials, without their secrets, and the vault key of each."`
}

// withCredentials is withRecord with the keys that credentials are encrypted with.
func withCredentials(ctx context.Context, d config.Data, f func(*app.Record) error) error {
	return withRecord(ctx, d, func(r *app.Record) error {
		if err := r.UseKeys(d); err != nil {
			return err
		}
		return f(r)
	})
}

// withRecord runs f on the record of a Taskbay.
func withRecord(ctx context.Context, d config.Data, f func(*app.Record) error) error {
	record, err := app.OpenRecord(ctx, d)
	if err != nil {
		return err
	}
	return errors.Join(f(record), record.Close())
}

// agentData is what every command takes that is about one agent.
type agentData struct {
	Agent       string `arg:"" help:"The agent: its name, its ID or the address of its card."`
	config.Data `embed:""`
}

type credentialSet struct {
	agentData   `embed:""`
	Kind        string   `required:"" enum:"bearer,api-key,basic,oauth2,mtls" placeholder:"KIND" help:"bearer, api-key, basic, oauth2 or mtls."`
	Origin      []string `required:"" placeholder:"ORIGIN" help:"Where it may be sent, and nowhere else: 1 to 20, such as https://agents.example.com:8443."`
	Header      string   `placeholder:"NAME" help:"api-key: the header that it goes in, such as X-API-Key."`
	Username    string   `placeholder:"NAME" help:"basic: the user name."`
	TokenURL    string   `name:"token-url" placeholder:"URL" help:"oauth2: the token endpoint."`
	ClientID    string   `name:"client-id" placeholder:"ID" help:"oauth2: the client's ID."`
	ClientAuth  string   `placeholder:"METHOD" help:"oauth2: client_secret_basic or client_secret_post. The former if it is not given."`
	Scope       string   `placeholder:"SCOPE" help:"oauth2: what is asked for, with spaces between several."`
	Audience    string   `placeholder:"URI" help:"oauth2: whom the tokens are for."`
	Certificate string   `type:"existingfile" placeholder:"FILE" help:"mtls: file with the client certificate as PEM. The private key is the secret."`
	CA          string   `name:"ca" type:"existingfile" placeholder:"FILE" help:"mtls: file with the authorities that vouch for the agent as PEM, if the system does not know them."`
}

// Help says where the secret comes from.
func (credentialSet) Help() string {
	return "The secret is the token, the key, the password, the client's secret, or the private key as PEM. " +
		"It is asked for on a terminal and read from standard input otherwise; never from the command line, which others can see. Ends with 1 if the credential cannot be used."
}

// Run binds the credential.
func (c credentialSet) Run(ctx context.Context, s Streams) error {
	return withCredentials(ctx, c.Data, func(r *app.Record) error {
		a, err := findAgent(ctx, r, c.Agent)
		if err != nil {
			return err
		}
		given, err := c.credential()
		if err != nil {
			return err
		}
		if given.Secret, err = readSecret(s, "Secret for "+oneLine(a.Name)+" (it is not shown): "); err != nil {
			return err
		}
		binding, err := r.Credentials.Set(ctx, operator(), a.ID, given)
		if err != nil {
			return c.explain(err)
		}
		_, err = fmt.Fprintf(s.Out, "%s has a credential of kind %s now, for %s.\n", oneLine(a.Name), binding.Kind, strings.Join(binding.Origins, ", "))
		return err
	})
}

// credential returns what was given on the command line.
func (c credentialSet) credential() (scheme.Credential, error) {
	given := scheme.Credential{
		Kind: scheme.Kind(c.Kind), Origins: c.Origin, Header: c.Header, Username: scheme.Secret(c.Username),
		TokenURL: c.TokenURL, ClientID: c.ClientID, ClientAuth: c.ClientAuth, Scope: c.Scope, Audience: c.Audience,
	}
	for _, file := range []struct {
		path string
		into *string
	}{{c.Certificate, &given.Certificate}, {c.CA, &given.CA}} {
		if file.path == "" {
			continue
		}
		content, err := os.ReadFile(file.path)
		if err != nil {
			return given, &failure{exitUsage, err}
		}
		*file.into = string(content)
	}
	return given, nil
}

// explain says which flags are at fault.
func (c credentialSet) explain(err error) error {
	return explainFields(err, map[string]string{
		"origins": "--origin", "header": "--header", "username": "--username", "tokenUrl": "--token-url", "clientId": "--client-id",
		"clientAuth": "--client-auth", "scope": "--scope", "audience": "--audience", "certificate": "--certificate", "ca": "--ca", "secret": "the secret",
	})
}

// readSecret asks for a secret on a terminal, without showing it, and reads
// standard input otherwise, less the line end behind it.
func readSecret(s Streams, prompt string) (scheme.Secret, error) {
	if !isTerminal(s.In) {
		raw, err := io.ReadAll(io.LimitReader(s.In, scheme.MaxPEM+1))
		text := strings.TrimPrefix(string(raw), "\uFEFF") // some editors begin files with a byte order mark
		return scheme.Secret(strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")), err
	}
	if _, err := fmt.Fprint(s.Err, prompt); err != nil {
		return "", err
	}
	typed, err := term.ReadPassword(int(s.In.(*os.File).Fd()))
	_, _ = fmt.Fprintln(s.Err) // the line end that was typed and not shown
	return scheme.Secret(typed), err
}

type credentialRevoke struct {
	agentData `embed:""`
}

// Run revokes the credential.
func (c credentialRevoke) Run(ctx context.Context, s Streams) error {
	return withCredentials(ctx, c.Data, func(r *app.Record) error {
		a, err := findAgent(ctx, r, c.Agent)
		if err != nil {
			return err
		}
		if err := r.Credentials.Revoke(ctx, operator(), a.ID); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.Out, "The credential of %s is revoked. The agent is not called until another is set.\n", oneLine(a.Name))
		return err
	})
}

type credentialRotate struct {
	config.Data `embed:""`
}

// Run encrypts every credential with the active key.
func (c credentialRotate) Run(ctx context.Context, s Streams) error {
	return withCredentials(ctx, c.Data, func(r *app.Record) error {
		done, err := r.Credentials.Rotate(ctx, operator())
		if _, printed := fmt.Fprintf(s.Out, "Vault key %s: %d encrypted with it now, %d were before.\n", done.Key, done.Changed, done.Same); printed != nil {
			return errors.Join(err, printed)
		}
		return err
	})
}

type credentialList struct {
	config.Data `embed:""`
	JSON        bool `name:"json" help:"Print JSON."`
}

// Run lists the credentials.
func (c credentialList) Run(ctx context.Context, s Streams) error {
	return withCredentials(ctx, c.Data, func(r *app.Record) error {
		all, err := r.Credentials.List(ctx, operator())
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.Out, map[string]any{"items": all}, true)
		}
		if len(all) == 0 {
			_, err := fmt.Fprintln(s.Out, "No agent has a credential.")
			return err
		}
		table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "AGENT\tKIND\tSENT TO\tKEY\tSTATE") // Flush tells what went wrong
		for _, b := range all {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", oneLine(b.AgentName), b.Kind, strings.Join(b.Origins, " "), b.Key, stateOf(b))
		}
		return table.Flush()
	})
}

func stateOf(b credential.Binding) string {
	if b.Ended != "" {
		return string(b.Ended)
	}
	return "in use"
}
