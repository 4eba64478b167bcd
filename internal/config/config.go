// Package config holds everything that can be set about a Taskbay server: one
// struct, filled from flags, the environment and a file, in that order of
// precedence. docs/configuration.md is generated from it.
package config

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/agent-taskbay/taskbay/internal/access"
	"github.com/agent-taskbay/taskbay/internal/artifact"
	"github.com/agent-taskbay/taskbay/internal/fault"
	"github.com/agent-taskbay/taskbay/internal/netpolicy"
	"github.com/agent-taskbay/taskbay/internal/signin"
	"github.com/agent-taskbay/taskbay/internal/vault"
)

// Config is what a server runs with. The command line fills it; a test may fill
// it by hand, and then only Listen and DataDir matter.
//
// The defaults that differ between commands are variables, see Defaults and Demo.
type Config struct {
	Listen            string            `default:"127.0.0.1:3002" env:"TASKBAY_LISTEN" placeholder:"HOST:PORT" help:"Address to serve on; port 0 takes a free one. Loopback only, unless people sign in: see --oidc-issuer."`
	DataDir           string            `default:"${data_dir}" type:"path" env:"TASKBAY_DATA_DIR" placeholder:"DIR" help:"Where everything is kept. Made for you alone (0700) if it is not there; one that others can look into is used with a warning. One process at a time, unless the database is PostgreSQL."`
	DatabaseURL       string            `env:"TASKBAY_DATABASE_URL" placeholder:"URL" help:"PostgreSQL database to use instead of SQLite in the data directory, as postgres://USER:PASSWORD@HOST/DATABASE. Set it in the environment or the file: arguments can be seen by others on the machine."`
	AutoMigrate       bool              `env:"TASKBAY_AUTO_MIGRATE" help:"Bring the schema of a PostgreSQL database up to date at start. Without it, run taskbay migrate up. SQLite is always brought up to date."`
	Workers           *bool             `default:"true" negatable:"" env:"TASKBAY_WORKERS" help:"Send commands and keep tasks current in this process. With --no-workers it only serves, and taskbay worker does the work: PostgreSQL only."`
	Open              *bool             `negatable:"" env:"TASKBAY_OPEN" help:"Open the page in the browser at start. ${open_default}"`
	LogLevel          string            `default:"${log_level}" enum:"debug,info,warn,error" env:"TASKBAY_LOG_LEVEL" placeholder:"LEVEL" help:"Least level that is logged, to standard error: debug, info, warn or error."`
	LogFormat         string            `default:"text" enum:"text,json" env:"TASKBAY_LOG_FORMAT" placeholder:"FORMAT" help:"How the log is written: text or json."`
	MetricsListen     string            `env:"TASKBAY_METRICS_LISTEN" placeholder:"HOST:PORT" help:"Address to serve /metrics, /healthz and /readyz on, for processes that serve no pages, and to be asked from other machines. Without it they are at the address of the pages, and a taskbay worker answers nowhere."`
	OTLPEndpoint      string            `name:"otlp-endpoint" env:"TASKBAY_OTLP_ENDPOINT,OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" help:"Collector that OpenTelemetry traces are sent to, over OTLP/HTTP, such as http://127.0.0.1:4318. None are made without it."`
	SignIn            signin.Options    `embed:""`
	Network           netpolicy.Options `embed:""`
	Vault             vault.Options     `embed:""`
	Artifacts         artifact.Options  `embed:""`
	PushOrigin        string            `env:"TASKBAY_PUSH_ORIGIN" placeholder:"ORIGIN" help:"Have agents post what happens on tasks, to this origin, such as https://console.example. Nothing but /push/ has to be reachable there. Without it, agents are only asked."`
	SessionLife       time.Duration     `default:"8h" env:"TASKBAY_SESSION_LIFE" placeholder:"DURATION" help:"How long somebody stays signed in, from 1m to 24h."`
	Limits            access.Limits     `embed:""`
	RequireSignatures bool              `env:"TASKBAY_REQUIRE_SIGNATURES" help:"Call only agents whose card is signed with a key that is pinned."`
	TaskRecordMB      int64             `name:"task-record-mb" default:"64" env:"TASKBAY_TASK_RECORD_MB" placeholder:"MIB" help:"How much of what an agent sends about one task is kept as it came, in MiB. Beyond it the essence is kept, and beyond twice as much the end of the task."`
	TaskRecordEvents  int64             `default:"100000" env:"TASKBAY_TASK_RECORD_EVENTS" placeholder:"N" help:"How many observations of one task are kept as they came. Beyond it as with --task-record-mb."`
	AGUI              *bool             `name:"ag-ui" default:"true" negatable:"" env:"TASKBAY_AG_UI" help:"Let AG-UI front ends drive agents, at /api/v1/agents/ID/ag-ui."`
	AGUIOrigins       []string          `name:"ag-ui-origins" env:"TASKBAY_AG_UI_ORIGINS" placeholder:"ORIGIN,…" help:"Origins, such as https://app.example, whose pages may call that from a browser, each with an API token. Pages of this server need not be listed."`
	File              File              `name:"config" env:"TASKBAY_CONFIG" placeholder:"FILE" help:"A JSON object of these options, by their names without the dashes. Flags and the environment go before it."`
}

// maxTaskRecordMB is 1 TiB: more than anybody has room for.
const maxTaskRecordMB = 1 << 20

// InvalidError says why a server cannot run with a Config, in words for the
// person who started it.
type InvalidError struct{ message string }

// Error returns the words.
func (e *InvalidError) Error() string { return e.message }

func invalid(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}

// Works reports whether the server does work besides serving.
func (c Config) Works() bool { return c.Workers == nil || *c.Workers }

// ServesAGUI reports whether AG-UI front ends are served.
func (c Config) ServesAGUI() bool { return c.AGUI == nil || *c.AGUI }

// Validate returns an *InvalidError if a server cannot run with c.
func (c Config) Validate() error {
	if c.DataDir == "" {
		return invalid("--data-dir is empty: name a directory")
	}
	if _, err := c.Network.Policy(!c.SignIn.On()); err != nil {
		return invalid("%s", fault.Public(err).Message)
	}
	if err := c.Artifacts.Validate(); err != nil {
		return invalid("%s", err)
	}
	if c.DatabaseURL == "" && !c.Works() {
		return invalid("--no-workers needs --database-url: on SQLite one process does everything")
	}
	if c.TaskRecordMB < 0 || c.TaskRecordEvents < 0 || c.TaskRecordMB > maxTaskRecordMB {
		return invalid("--task-record-mb is from 1 to %d, and --task-record-events at least 1", maxTaskRecordMB)
	}
	if c.SessionLife != 0 && (c.SessionLife < access.MinSessionLife || c.SessionLife > access.MaxSessionLife) {
		return invalid("--session-life is from 1m to 24h, such as 8h")
	}
	if err := c.Limits.Validate(); err != nil {
		return invalid("%s", err)
	}
	if _, err := c.Traces(); err != nil {
		return err
	}
	if err := checkPushOrigin(c.PushOrigin); err != nil {
		return err
	}
	if err := checkOrigins("--ag-ui-origins", c.AGUIOrigins); err != nil {
		return err
	}
	if err := c.SignIn.Validate(); err != nil {
		return invalid("%s", err)
	}
	return checkListen(c.Listen, c.SignIn.On())
}

// Traces is where OpenTelemetry traces are sent; nil if they are not made. Its error
// is an *InvalidError.
func (c Config) Traces() (*url.URL, error) {
	if c.OTLPEndpoint == "" {
		return nil, nil
	}
	to, err := url.Parse(c.OTLPEndpoint)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" || to.RawQuery != "" || to.Fragment != "" {
		return nil, invalid("--otlp-endpoint is no address of a collector, such as http://127.0.0.1:4318")
	}
	return to, nil
}

// checkPushOrigin returns an *InvalidError unless agents can be given the origin: what
// they post holds what people and agents say to each other, and goes over TLS.
func checkPushOrigin(origin string) error {
	if origin == "" {
		return nil
	}
	const right = "write an origin alone, such as https://console.example"
	u, err := url.Parse(origin)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return invalid("--push-origin %q is none: %s", origin, right)
	case u.User != nil:
		return invalid("--push-origin has a user name: %s", right)
	case u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(origin, "#"):
		return invalid("--push-origin %q has more than an origin, even if that is a slash: %s", origin, right)
	case u.Scheme == "https", u.Scheme == "http" && loopbackName(u.Hostname()):
		return nil
	}
	return invalid("--push-origin %q has to begin with https://, as pushes hold what agents and people say; http:// is for agents on this machine alone", origin)
}

func loopbackName(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// checkListen returns an *InvalidError, with ways out, unless only those reach the
// address who may: people who sign in, or this machine alone.
func checkListen(addr string, signIn bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return invalid("--listen %s is no HOST:PORT, such as 127.0.0.1:3002", addr)
	}
	if signIn || loopbackName(host) {
		return nil
	}
	return invalid("--listen %s would be open to others, and nobody signs in: whoever reaches it would act as you.\n"+
		"For several people, have them sign in: --oidc-issuer, --oidc-client-id and --origin name the OpenID provider, what Taskbay is registered as there, and where people open it.\n"+
		"For yourself, use 127.0.0.1:%[2]s. To work from another machine, tunnel to it there: ssh -L %[2]s:127.0.0.1:%[2]s THIS-MACHINE", addr, port)
}

// Level returns LogLevel as slog has it; slog.LevelInfo if it is empty.
func (c Config) Level() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return slog.LevelInfo
	}
	return level
}
