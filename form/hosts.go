package form

// MixedScriptHosts returns the host names in a text that may pass for another.
func MixedScriptHosts(text string) []string { return nil }
