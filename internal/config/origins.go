package config

import "net/url"

// checkOrigins returns an *InvalidError unless each is an origin as browsers name it.
func checkOrigins(option string, origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			return invalid("%s: %q is no origin: write one as browsers do, such as https://app.example, without a path or a slash at the end", option, origin)
		}
	}
	return nil
}
