package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// readSecurity reads the schemes and whether any is required. When the card
// cannot be understood here, credentials count as required: a call without them
// would fail, or reach somebody it should not.
func readSecurity(root object, card *Card) {
	card.SecuritySchemes = readSchemes(root)
	known := map[string]bool{}
	for _, scheme := range card.SecuritySchemes {
		known[scheme.Name] = true
	}
	card.SecurityRequired = requiresSecurity(root, "securityRequirements", known) ||
		requiresSecurity(root, "security", known)
}

// requiresSecurity reports whether every alternative that a member lists names
// a scheme. An empty alternative stands for callers without credentials.
func requiresSecurity(root object, name string, known map[string]bool) bool {
	if !root.has(name) {
		return false
	}
	elements := root.elements(name, maxRequirements, optional)
	for i, raw := range elements {
		o, ok := root.enter(root.at(name)+"/"+strconv.Itoa(i), sectionScheme, raw)
		if !ok {
			continue
		}
		if schemes, ok := o.child("schemes", sectionScheme, optional); ok {
			o = schemes
		}
		if len(o.members) == 0 {
			return false
		}
		reportUnknown(o, known)
	}
	return len(elements) > 0
}

func reportUnknown(o object, known map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if !known[name] {
			o.report.add(Error, o.path, o.section, "%q is required here, and securitySchemes does not say what it is.", cut(name, 60))
		}
	}
}

func readSchemes(root object) []SecurityScheme {
	all, ok := root.child("securitySchemes", sectionScheme, optional)
	if !ok {
		return nil
	}
	var list []SecurityScheme
	for _, name := range slices.Sorted(maps.Keys(all.members)) {
		if len(list) == maxSchemes {
			root.find(Warning, "securitySchemes", "securitySchemes has %d entries; only the first %d are used.", len(all.members), maxSchemes)
			break
		}
		if cut(name, maxIdentifier) != name {
			root.find(Error, "securitySchemes", "A scheme whose name is longer than %d characters is ignored.", maxIdentifier)
			continue
		}
		if o, ok := all.enter(all.at(name), sectionScheme, all.members[name]); ok {
			list = append(list, readScheme(o, name))
		}
	}
	return list
}

// schemeTypes maps the member that holds a scheme in a 1.0 card to its type.
var schemeTypes = map[string]string{
	"apiKeySecurityScheme":        SchemeAPIKey,
	"httpAuthSecurityScheme":      SchemeHTTP,
	"oauth2SecurityScheme":        SchemeOAuth2,
	"openIdConnectSecurityScheme": SchemeOpenIDConnect,
	"mtlsSecurityScheme":          SchemeMutualTLS,
}

// readScheme reads a scheme of either protocol version: 1.0 wraps it in a member
// that names its type, 0.3 has the type beside the rest.
func readScheme(o object, name string) SecurityScheme {
	for _, member := range slices.Sorted(maps.Keys(o.members)) {
		kind, ok := schemeTypes[member]
		if !ok {
			continue
		}
		if inner, ok := o.child(member, sectionScheme, required); ok {
			return describeScheme(inner, SecurityScheme{Name: name, Type: kind})
		}
		return SecurityScheme{Name: name, Type: kind}
	}
	scheme := SecurityScheme{Name: name, Type: o.text("type", maxTag, optional)}
	if scheme.Type == "" {
		scheme.Type = firstObject(o)
	}
	if !slices.Contains([]string{SchemeAPIKey, SchemeHTTP, SchemeOAuth2, SchemeOpenIDConnect, SchemeMutualTLS}, scheme.Type) {
		o.report.add(Error, o.path, o.section, "The specification knows no security scheme of this type.")
	}
	return describeScheme(o, scheme)
}

// firstObject names the member that most likely holds a scheme of unknown type.
func firstObject(o object) string {
	for _, member := range slices.Sorted(maps.Keys(o.members)) {
		if kindOf(o.members[member]) == "object" {
			return cut(member, maxTag)
		}
	}
	return ""
}

func describeScheme(o object, scheme SecurityScheme) SecurityScheme {
	scheme.Description = o.text("description", maxDescription, optional)
	switch scheme.Type {
	case SchemeAPIKey:
		place := "location"
		if !o.has(place) && o.has("in") {
			place = "in"
		}
		scheme.Detail = strings.TrimSpace(o.text(place, maxTag, required) + " " + o.text("name", maxName, required))
	case SchemeHTTP:
		scheme.Detail = o.text("scheme", maxTag, required)
	case SchemeOAuth2:
		scheme.Detail = readFlows(o)
	case SchemeOpenIDConnect:
		scheme.Detail = o.webURL("openIdConnectUrl", required)
	}
	return scheme
}

func readFlows(o object) string {
	flows, ok := o.child("flows", sectionScheme, required)
	if !ok {
		return ""
	}
	names := slices.Sorted(maps.Keys(flows.members))
	names = slices.DeleteFunc(names, func(name string) bool { return isNull(flows.members[name]) })
	return cut(strings.Join(names, ", "), maxName)
}

func isNull(raw json.RawMessage) bool { return kindOf(raw) == "null" }
