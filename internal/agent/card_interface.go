package agent

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/remote"
)

// readInterfaces returns the ways to reach the agent that could be dialled, in
// the card's order. A card may be written for both protocol versions at once;
// the interfaces of 1.0 then come first.
func readInterfaces(root object, base *url.URL) []remote.Interface {
	list := interfaceList{base: base}
	declared := declaredVersion(root)
	for _, o := range root.objects("supportedInterfaces", maxInterfaces, sectionInterface, optional) {
		tenant, ok := o.identifier("tenant", maxIdentifier, optional)
		if !ok && o.has("tenant") {
			continue
		}
		list.add(o, remote.Interface{
			Binding:         readBinding(o, "protocolBinding", "transport"),
			ProtocolVersion: readVersion(o, declared),
			Tenant:          tenant,
		})
	}
	list.addLegacy(root, declared)
	switch {
	case len(list.interfaces) > 0:
	case root.has("supportedInterfaces"), root.has("url"):
		root.report.add(Error, "", sectionDeclaration, "The card names no interface that could be used, so the agent cannot be reached.")
	default:
		root.find(Error, "supportedInterfaces", "supportedInterfaces is missing: the card does not say where the agent can be reached.")
	}
	return list.interfaces
}

type interfaceList struct {
	base       *url.URL
	interfaces []remote.Interface
}

// addLegacy adds the interfaces of a 0.3 card: url with preferredTransport, and
// additionalInterfaces, which usually repeat the first. version is the one that
// the card names for all of them, or "".
func (l *interfaceList) addLegacy(root object, version string) {
	if version == "" {
		version = "0.3"
	}
	if root.has("url") {
		l.add(root, remote.Interface{Binding: preferredBinding(root), ProtocolVersion: version})
	}
	for _, o := range root.objects("additionalInterfaces", maxInterfaces, sectionInterface, optional) {
		l.add(o, remote.Interface{Binding: readBinding(o, "transport", "protocolBinding"), ProtocolVersion: version})
	}
}

// add completes the interface with the URL in o and keeps it if it could be
// dialled, is not a repetition, and there is room.
func (l *interfaceList) add(o object, i remote.Interface) {
	if i.Binding == "" {
		o.report.add(Error, o.path, sectionInterface, "This interface does not say its protocol binding and is ignored.")
		return
	}
	i.URL = interfaceURL(o, i.Binding, l.base)
	if i.URL == "" || len(l.interfaces) == maxInterfaces {
		return
	}
	for _, other := range l.interfaces {
		if other == i {
			return
		}
	}
	l.interfaces = append(l.interfaces, i)
}

func preferredBinding(root object) string {
	if root.has("preferredTransport") {
		return readBinding(root, "preferredTransport", "")
	}
	root.find(Info, "preferredTransport", "preferredTransport is missing; it is taken as JSONRPC.")
	return remote.JSONRPC
}

// readBinding returns the protocol binding that a member names, or that the
// member of another protocol version does.
func readBinding(o object, name, otherName string) string {
	if !o.has(name) && otherName != "" && o.has(otherName) {
		o.find(Error, otherName, "%s belongs into another version of the protocol; here it is %s.", otherName, name)
		name = otherName
	}
	given, ok := o.identifier(name, maxIdentifier, optional)
	binding := canonicalBinding(given)
	switch {
	case !ok || isBlank(given):
		return ""
	case binding == "":
		o.find(Info, name, "%q is a binding of its own; Taskbay does not speak it.", cut(given, 60))
		return given
	case binding != given:
		o.find(Error, name, "%q is written %s in the specification; other clients may not know it.", cut(given, 60), binding)
	}
	return binding
}

// canonicalBinding returns the specification's spelling of a binding, or "".
func canonicalBinding(given string) string {
	plain := strings.NewReplacer("-", "", "_", "", " ", "", "+", "", "/", "").Replace(strings.ToUpper(given))
	switch plain {
	case "JSONRPC", "JSONRPC2.0":
		return remote.JSONRPC
	case "HTTPJSON", "HTTP", "REST", "HTTPREST":
		return remote.HTTPJSON
	case "GRPC":
		return remote.GRPC
	}
	return ""
}

// readVersion returns the protocol version of an interface as "major.minor".
// Where the interface gives none, that of the whole card counts, unless it is
// older than 1.0, which brought this list of interfaces.
func readVersion(o object, declared string) string {
	fallback := declared
	if fallback == "" || fallback[0] == '0' {
		fallback = "1.0"
	}
	if !o.has("protocolVersion") {
		o.find(Error, "protocolVersion", "protocolVersion is missing, and the specification requires it; it is taken as %s.", fallback)
		return fallback
	}
	if version := cleanVersion(o, "protocolVersion"); version != "" {
		return version
	}
	return fallback
}

// declaredVersion returns the protocol version that the card as a whole names,
// as 0.3 cards do, or "".
func declaredVersion(root object) string {
	switch {
	case root.has("protocolVersion"):
		return cleanVersion(root, "protocolVersion")
	case root.has("protocolVersions"):
		for _, version := range root.texts("protocolVersions", maxInterfaces, maxVersion, optional) {
			return majorMinor(version)
		}
	}
	return ""
}

func cleanVersion(o object, name string) string {
	given := o.text(name, maxVersion, required)
	version := majorMinor(given)
	switch {
	case version == "":
		o.report.add(Error, o.at(name), sectionVersioning, "%q is no protocol version such as 1.0.", cut(given, 60))
	case version == given, version[0] == '0':
		// 0.3 counted its patches in the card.
	default:
		o.report.add(Warning, o.at(name), sectionVersioning, "%q is to be written as %s: major and minor number.", cut(given, 60), version)
	}
	return version
}

// majorMinor reduces a version such as "1", "v1.0" or "1.0.2" to "1.0". It
// returns "" for what is no version.
func majorMinor(given string) string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(given), "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	if minor == "" {
		minor = "0"
	}
	if !isShortNumber(major) || !isShortNumber(minor) {
		return ""
	}
	return major + "." + minor
}

func isShortNumber(s string) bool {
	return s != "" && len(s) <= 3 && strings.Trim(s, "0123456789") == ""
}

// interfaceURL returns the address of an interface, or "" if nothing could be
// dialled there. A relative URL is resolved against that of the card.
func interfaceURL(o object, binding string, base *url.URL) string {
	given, ok := o.identifier("url", maxURL, required)
	if !ok {
		return ""
	}
	if binding == remote.GRPC && isHostPort(given) {
		return given
	}
	u, err := url.Parse(strings.TrimSpace(given))
	if err != nil {
		o.find(Error, "url", "This is no URL; the interface is ignored.")
		return ""
	}
	if u.Scheme == "" {
		o.find(Error, "url", "The URL of an interface has to be absolute; it is taken as relative to the card's.")
		u = base.ResolveReference(u)
	}
	if binding == remote.GRPC && (u.Scheme == "grpc" || u.Scheme == "grpcs") {
		o.find(Warning, "url", "The scheme %s is not the specification's; it is taken as http%s.", u.Scheme, strings.TrimPrefix(u.Scheme, "grpc"))
		u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "grpc")
	}
	if !checkURL(o, u) {
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// checkURL reports whether an interface could be dialled at u.
func checkURL(o object, u *url.URL) bool {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		o.find(Error, "url", "The URL has to start with http:// or https://; the interface is ignored.")
		return false
	case u.Hostname() == "":
		o.find(Error, "url", "The URL names no host; the interface is ignored.")
		return false
	case u.User != nil:
		o.find(Error, "url", "A user name or password in a URL is not sent; the interface is ignored.")
		return false
	}
	if u.RawQuery != "" || u.Fragment != "" {
		o.find(Warning, "url", "The URL of an interface should have no query and no fragment.")
	}
	if u.Scheme == "http" && !isLocal(u.Hostname()) {
		o.report.add(Warning, o.at("url"), sectionTransport, "Outside of development the specification requires https.")
	}
	return true
}

func isHostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && host != "" && port != "" && strings.Trim(port, "0123456789") == "" && !strings.ContainsAny(host, "/@?# ")
}

func isLocal(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && (address.IsLoopback() || address.IsPrivate())
}
