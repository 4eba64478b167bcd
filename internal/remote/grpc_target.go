package remote

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// grpcTarget is where a gRPC call goes.
type grpcTarget struct {
	url     *url.URL // http or https, the host as it was given
	address string   // host:port, ready to be dialled
	secure  bool     // over TLS
}

// grpcTargetOf reads the address of a gRPC interface: an http, https, grpc or grpcs
// URL, or host:port as gRPC has it. The scheme says whether TLS is spoken; without
// one it is, loopback aside. gRPC knows no path, so one is passed over. What gRPC
// itself would take for the name of a resolver, such as unix: or dns:, is refused.
func grpcTargetOf(i Interface) (grpcTarget, error) {
	target, err := parseGRPCTarget(strings.TrimSpace(i.URL))
	if err == nil {
		return target, nil
	}
	return grpcTarget{}, &Error{
		Delivery: NotSent,
		Message: fmt.Sprintf("The address of the agent's interface is not usable: %q. For gRPC it has to be an http, https, grpc or grpcs address, or host:port.",
			cleaned(i.URL, 200)),
		Err: err,
	}
}

// IsGRPCAddress reports whether a gRPC call can go to an address: an http, https,
// grpc or grpcs URL, or host:port. Whether the network policy lets it is another matter.
func IsGRPCAddress(address string) bool {
	_, err := parseGRPCTarget(strings.TrimSpace(address))
	return err == nil
}

func parseGRPCTarget(raw string) (grpcTarget, error) {
	if !strings.Contains(raw, "://") {
		scheme := "https"
		if host, _, err := net.SplitHostPort(raw); err != nil {
			return grpcTarget{}, err
		} else if isLoopback(host) {
			scheme = "http"
		}
		raw = scheme + "://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return grpcTarget{}, err
	}
	port := u.Port()
	switch u.Scheme {
	case "http", "grpc":
		u.Scheme = "http"
		port = cmp.Or(port, "80")
	case "https", "grpcs":
		u.Scheme = "https"
		port = cmp.Or(port, "443")
	default:
		return grpcTarget{}, fmt.Errorf("scheme %q", u.Scheme)
	}
	if u.User != nil {
		return grpcTarget{}, fmt.Errorf("there is a user name in it")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return grpcTarget{}, fmt.Errorf("port %q", port)
	}
	host, err := dialledHost(u.Hostname())
	return grpcTarget{u, net.JoinHostPort(host, port), u.Scheme == "https"}, err
}

// dialledHost returns a host as the network is asked for it: an IP address, or a
// name in ASCII.
func dialledHost(host string) (string, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return host, nil
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", err
		}
		host = ascii
	}
	if host == "" || strings.Trim(strings.ToLower(host), hostCharacters) != "" {
		return "", fmt.Errorf("host %q", host)
	}
	return host, nil
}

const hostCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-._"

// isLoopback reports whether a host can only be this machine.
func isLoopback(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// String is the target as an address for people and records.
func (t grpcTarget) String() string {
	if t.secure {
		return "https://" + t.address
	}
	return "http://" + t.address
}
