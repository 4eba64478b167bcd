package config

import "github.com/alecthomas/kong"

// Demo is what the demo runs with: a server's options, with its data kept apart
// and a quiet log, and the address of the sample agents.
type Demo struct {
	Config `embed:"" set:"data_dir=~/.taskbay-demo" set:"log_level=warn" set:"open_default=The demo does so if its output is a terminal."`
	Agents string `default:"127.0.0.1:4010" env:"TASKBAY_AGENTS" placeholder:"HOST:PORT" help:"Where the sample agents listen."`
}

// Defaults returns what every command line with a Config needs: the variables
// that its defaults stand on, as a server has them, and the home directory for ~.
func Defaults() kong.Option {
	options := append(homeMappers(), kong.Vars{
		"data_dir":     "~/.taskbay",
		"log_level":    "info",
		"open_default": "Off unless asked for.",
	})
	return kong.OptionFunc(func(k *kong.Kong) error {
		for _, option := range options {
			if err := option.Apply(k); err != nil {
				return err
			}
		}
		return nil
	})
}
