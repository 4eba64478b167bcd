package agent

import (
	"bytes"
	"encoding/json"
	"net/url"
	"unicode/utf8"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
	"github.com/agent-taskbay/taskbay/internal/agent/signature"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Limits of what is taken from a card, in code points and entries. Longer texts
// are cut, further entries left out, each with a finding.
const (
	maxName        = 200
	maxDescription = 4000
	maxVersion     = 100
	maxIdentifier  = 200
	maxURL         = 1024
	maxTag         = 100
	maxExample     = 1000
	maxMediaType   = 200

	maxInterfaces   = 20
	maxExtensions   = 50
	maxSkills       = 200
	maxTags         = 50
	maxExamples     = 20
	maxModes        = 50
	maxSchemes      = 50
	maxRequirements = 50
	maxSignatures   = 20

	maxLevels = 100 // of nesting; readers of JSON give up at some depth
)

// ParseCard reads an Agent Card of A2A 1.0 or 0.3 and says what is wrong with
// it. Whatever can be used is used; all else is a finding. cardURL is where the
// card came from, for relative URLs and a missing name; it may be "". The only
// error is a *fault.Error for a document that is no JSON object, or one that is
// nested more than 100 levels deep.
//
// The caller bounds the size of raw. The result holds no reference to it.
func ParseCard(raw []byte, cardURL string) (Card, []Finding, error) {
	var r report
	root, err := decodeCard(raw, &r)
	if err != nil {
		return Card{}, nil, err
	}
	base, err := url.Parse(cardURL)
	if err != nil {
		base = &url.URL{}
	}
	card := Card{
		Name:               root.text("name", maxName, required),
		Description:        root.text("description", maxDescription, required),
		Version:            root.text("version", maxVersion, required),
		ProtocolVersion:    writtenIn(root),
		Provider:           readProvider(root),
		DefaultInputModes:  readModes(root, "defaultInputModes", required),
		DefaultOutputModes: readModes(root, "defaultOutputModes", required),
		Skills:             readSkills(root),
		IconURL:            root.webURL("iconUrl", optional),
		DocumentationURL:   root.webURL("documentationUrl", optional),
		Signed:             readSignatures(root),
	}
	if isBlank(card.Name) {
		card.Name = nameless(base)
	}
	card.Interfaces = readInterfaces(root, base)
	readCapabilities(root, &card)
	readSecurity(root, &card)
	return card, r.list(), nil
}

// decodeCard returns the card's object. A byte order mark in front of it and
// anything behind it are findings.
func decodeCard(raw []byte, r *report) (object, error) {
	if rest, found := bytes.CutPrefix(raw, []byte("\ufeff")); found {
		raw = rest
		r.add(Warning, "", sectionCard, "The document starts with a byte order mark; JSON must not have one (RFC 8259, 8.1), and some clients fail on it.")
	}
	if !utf8.Valid(raw) {
		r.add(Error, "", sectionCard, "The document is not valid UTF-8 (RFC 8259, 8.1); broken characters are shown as \ufffd.")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		return object{}, fault.Wrap(err, fault.Unprocessable, "This is no Agent Card: %s.", notJSON(raw))
	}
	if kindOf(value) != "object" {
		return object{}, fault.New(fault.Unprocessable, "This is no Agent Card: the document is %s, and a card is a JSON object.", withArticle(kindOf(value)))
	}
	if levels := rawjson.Depth(value); levels > maxLevels {
		return object{}, fault.New(fault.Unprocessable, "This card cannot be used: it is nested %d levels deep, and many readers of JSON fail on that; at most %d are taken.", levels, maxLevels)
	}
	if rest := raw[decoder.InputOffset():]; !isBlank(string(rest)) {
		r.add(Error, "", sectionCard, "Something follows the card in the same document; it is ignored.")
	}
	findAmbiguities(value, r)
	return object{r, "", sectionCard, decodeMembers(value)}, nil
}

// findAmbiguities finds fault with members that another reader may take for others.
func findAmbiguities(card []byte, r *report) {
	for _, a := range signature.Ambiguities(card) {
		if a.First == a.Second {
			r.add(Error, a.Path, sectionCard, "%s is there twice; the last one counts here, and another one may count elsewhere.", cut(a.Second, 60))
			continue
		}
		r.add(Warning, a.Path, sectionCard, "%s and %s are both there, and some readers take them for one; here each counts under its very name.", cut(a.First, 60), cut(a.Second, 60))
	}
}

// notJSON says what a document that is no JSON seems to be.
func notJSON(raw []byte) string {
	switch start := bytes.TrimSpace(raw); {
	case len(start) == 0:
		return "the document is empty"
	case start[0] == '<':
		return "the document is a web page or XML, not JSON"
	case start[0] == '{':
		return "the document starts like JSON but is broken or cut off"
	}
	return "the document is not JSON"
}

// writtenIn tells the protocol version of a card by its members: those that
// name interfaces were renamed with 1.0.
func writtenIn(root object) string {
	switch {
	case root.has("supportedInterfaces"):
		return "1.0"
	case root.has("url"), root.has("preferredTransport"), root.has("additionalInterfaces"):
		return "0.3"
	}
	return ""
}

func nameless(base *url.URL) string {
	if base.Host == "" {
		return "Unnamed agent"
	}
	return cut(base.Host, maxName)
}

func readProvider(root object) Provider {
	o, ok := root.child("provider", sectionProvider, optional)
	if !ok {
		return Provider{}
	}
	return Provider{
		Organization: o.text("organization", maxName, required),
		URL:          o.webURL("url", required),
	}
}

func readCapabilities(root object, card *Card) {
	card.ExtendedCard = root.flag("supportsAuthenticatedExtendedCard")
	o, ok := root.child("capabilities", sectionCapabilities, required)
	if !ok {
		return
	}
	card.Streaming = o.flag("streaming")
	card.PushNotifications = o.flag("pushNotifications")
	card.ExtendedCard = o.flag("extendedAgentCard") || card.ExtendedCard
	card.Extensions = readExtensions(o)
}

func readExtensions(capabilities object) []Extension {
	var list []Extension
	seen := map[string]bool{}
	for _, o := range capabilities.objects("extensions", maxExtensions, sectionExtension, optional) {
		e := readExtension(o)
		switch {
		case isBlank(e.URI):
			o.report.add(Error, o.path, o.section, "An extension without a URI cannot be used; it is ignored.")
			continue
		case seen[e.URI]:
			o.find(Warning, "uri", "This extension is listed before; the first entry counts.")
			continue
		}
		seen[e.URI] = true
		list = append(list, e)
	}
	return list
}

func readExtension(o object) Extension {
	uri, _ := o.identifier("uri", maxURL, required)
	e := Extension{
		URI:         uri,
		Description: o.text("description", maxDescription, optional),
		Required:    o.flag("required"),
	}
	if _, ok := o.child("params", sectionExtension, optional); ok {
		e.Params = o.members["params"]
	}
	return e
}

func readSkills(root object) []Skill {
	var list []Skill
	seen := map[string]bool{}
	for _, o := range root.objects("skills", maxSkills, sectionSkill, required) {
		s := readSkill(o)
		switch {
		case s.ID == "":
			o.report.add(Error, o.path, o.section, "A skill with neither an ID nor a name is ignored.")
			continue
		case seen[s.ID]:
			o.find(Warning, "id", "Another skill before it has the same ID; only the first is used.")
			continue
		}
		seen[s.ID] = true
		list = append(list, s)
	}
	return list
}

// readSkill lets a skill's ID and name stand in for each other.
func readSkill(o object) Skill {
	id, _ := o.identifier("id", maxIdentifier, required)
	s := Skill{
		ID:          id,
		Name:        o.text("name", maxName, required),
		Description: o.text("description", maxDescription, required),
		Tags:        o.texts("tags", maxTags, maxTag, required),
		Examples:    o.texts("examples", maxExamples, maxExample, optional),
		InputModes:  readModes(o, "inputModes", optional),
		OutputModes: readModes(o, "outputModes", optional),
	}
	if isBlank(s.ID) {
		s.ID = s.Name
	}
	if isBlank(s.Name) {
		s.Name = s.ID
	}
	return s
}

func readModes(o object, name string, n need) []string {
	modes := o.texts(name, maxModes, maxMediaType, n)
	for _, mode := range modes {
		if !isMediaType(mode) {
			o.find(Warning, name, "%q is no media type such as text/plain.", cut(mode, 60))
			break
		}
	}
	return modes
}

func readSignatures(root object) bool {
	signed := false
	for _, o := range root.objects("signatures", maxSignatures, sectionSignature, optional) {
		protected, signature := o.present("protected", required), o.present("signature", required)
		signed = signed || (protected && signature)
	}
	return signed
}
