package cli

// What the tests of the documentation ask the command line itself.
var (
	NewParser   = newParser
	WithCommand = withCommand
)
