package config

import "github.com/agent-taskbay/taskbay/internal/vault"

// Data says where a server keeps what it knows, for commands that work on it
// beside a server that may be running.
type Data struct {
	DataDir     string        `default:"${data_dir}" type:"path" env:"TASKBAY_DATA_DIR" placeholder:"DIR" help:"The data directory of the Taskbay that is meant."`
	DatabaseURL string        `env:"TASKBAY_DATABASE_URL" placeholder:"URL" help:"Its PostgreSQL database, if it uses one. Set it in the environment or the file: arguments can be seen by others on the machine."`
	Vault       vault.Options `embed:""`
	File        File          `name:"config" env:"TASKBAY_CONFIG" placeholder:"FILE" help:"The file of options that it is started with."`
}
