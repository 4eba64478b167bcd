package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// expandHome puts the home directory in place of a ~ that a path begins with:
// what $HOME says, as in a shell, and the system's record of the user without it.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return kong.ExpandPath(path)
	}
	return filepath.Join(home, rest)
}

// homeMappers have every option that is a path begin with expandHome; kong's own
// ~ goes past $HOME.
func homeMappers() []kong.Option {
	known := kong.NewRegistry().RegisterDefaults()
	var mappers []kong.Option
	for _, name := range []string{"path", "existingfile"} {
		next := known.ForNamedType(name, reflect.TypeFor[string]())
		mappers = append(mappers, kong.NamedMapper(name, kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
			token, err := ctx.Scan.PopValue("file")
			if err != nil {
				return err
			}
			if path, ok := token.Value.(string); ok {
				token.Value = expandHome(path)
			}
			ctx.Scan.PushToken(token)
			return next.Decode(ctx, target)
		})))
	}
	return mappers
}
