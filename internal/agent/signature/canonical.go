package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// canonicalForms returns the texts that the signature of a card may be over.
//
// A2A 1.0, 8.4.1 has the card in the canonical form of RFC 8785, without its
// signatures, and without members that have the default value of their protocol
// buffer. Signers differ in what that leaves out, and serve cards with it: so the
// card as it came is tried, then without empty members, then without those flags
// as well whose absence means false. What is left out says nothing that its absence
// does not say. Of two things that is not true: the parameters of extensions are always
// covered as they came, and so is an empty requirement in a list of security
// requirements, which says that nothing is required.
func canonicalForms(card []byte) ([][]byte, error) {
	if err := readOneWay(card); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(card))
	decoder.UseNumber()
	var whole map[string]any
	if err := decoder.Decode(&whole); err != nil {
		return nil, err
	}
	delete(whole, "signatures")
	var forms [][]byte
	for _, less := range []leftOut{nothing, empty, defaults} {
		kept, _ := without(whole, less).(map[string]any)
		form, err := canonical(kept)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(forms, func(known []byte) bool { return bytes.Equal(known, form) }) {
			forms = append(forms, form)
		}
	}
	return forms, nil
}

// readOneWay refuses a card whose members can be read in two ways.
func readOneWay(card []byte) error {
	found := Ambiguities(card)
	switch {
	case len(found) > 0 && found[0].First == found[0].Second:
		return fmt.Errorf("it has the member %.60q twice", found[0].First)
	case len(found) > 0:
		return fmt.Errorf("it has the members %.60q and %.60q, which readers may take for one", found[0].First, found[0].Second)
	case !jsontext.Value(card).IsValid():
		return errors.New("it is not one JSON object in UTF-8 and nothing else")
	}
	return nil
}

func canonical(card map[string]any) ([]byte, error) {
	raw, err := json.Marshal(card)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(raw)
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return value, nil
}

// leftOut reports whether a member of this name and value is left out.
type leftOut func(name string, value any) bool

func nothing(string, any) bool { return false }

func empty(_ string, value any) bool { return isEmpty(value) }

func defaults(name string, value any) bool {
	return isEmpty(value) || value == false && !slices.Contains(presenceFlags, name)
}

// presenceFlags are the flags of a card that may be false or absent (A2A 1.0,
// AgentCapabilities); every other one means false when it is absent.
var presenceFlags = []string{"streaming", "pushNotifications", "extendedAgentCard"}

// without returns a value less the members, at any depth, that are left out.
func without(value any, less leftOut) any {
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, member := range v {
			if name != "params" {
				member = withoutIn(name, member, less)
			}
			if !less(name, member) {
				kept[name] = member
			}
		}
		return kept
	case []any:
		kept := make([]any, 0, len(v))
		for _, item := range v {
			if item = without(item, less); !isEmpty(item) || !less("", item) {
				kept = append(kept, item)
			}
		}
		return kept
	}
	return value
}

// withoutIn is without for the member of that name.
func withoutIn(name string, member any, less leftOut) any {
	list, isList := member.([]any)
	if !isList || name != "security" && name != "securityRequirements" {
		return without(member, less)
	}
	kept := make([]any, 0, len(list))
	for _, item := range list {
		less := without(item, less)
		if !isEmpty(less) || requiresNothing(item) {
			kept = append(kept, less)
		}
	}
	return kept
}

// requiresNothing reports a security requirement without any scheme, as A2A 0.3 and
// 1.0 write it.
func requiresNothing(requirement any) bool {
	schemes, ok := requirement.(map[string]any)
	if !ok {
		return isEmpty(requirement)
	}
	named, has := schemes["schemes"]
	return len(schemes) == 0 || has && len(schemes) == 1 && isEmpty(named)
}

// isEmpty reports null, "", [] and {}.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
