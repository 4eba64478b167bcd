package vault

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// keySize is the size of a key in bytes; it is written as twice as many
// hexadecimal digits.
const keySize = 32

// maxKeys bounds a ring: more are a mistake.
const maxKeys = 100

var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

// Ring is a set of keys by their IDs. New ciphertexts are made with the active
// one; every one of them opens what it made. A Ring is safe for concurrent use.
// Formatting it shows no key.
type Ring struct {
	keys   map[string][]byte
	active string
}

// ParseRing reads keys, each "ID:" and 64 hexadecimal digits, with commas or
// white space between them. active is the ID of the active one; "" is the first.
// Its errors do not repeat what was given, save for the IDs.
func ParseRing(keys, active string) (*Ring, error) {
	entries := strings.FieldsFunc(keys, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' || r == '\n' })
	if len(entries) == 0 {
		return nil, fmt.Errorf("there is no key; a key is a name, a colon and %d hexadecimal digits, such as those of openssl rand -hex %d", 2*keySize, keySize)
	}
	if len(entries) > maxKeys {
		return nil, fmt.Errorf("there are %d keys; a vault has at most %d", len(entries), maxKeys)
	}
	ring := &Ring{keys: make(map[string][]byte, len(entries)), active: active}
	for i, entry := range entries {
		if err := ring.add(i+1, entry); err != nil {
			return nil, err
		}
		if ring.active == "" {
			ring.active, _, _ = strings.Cut(entry, ":")
		}
	}
	if _, ok := ring.keys[ring.active]; !ok {
		return nil, fmt.Errorf("no key has the name of the active one; there are: %s", strings.Join(ring.IDs(), ", "))
	}
	return ring, nil
}

func (r *Ring) add(number int, entry string) error {
	id, digits, ok := strings.Cut(entry, ":")
	if !ok || !keyID.MatchString(id) {
		return fmt.Errorf("key %d has no name; write a name of letters, digits, dots, dashes and underscores, a colon, and the digits", number)
	}
	key, err := hex.DecodeString(digits)
	if err != nil || len(key) != keySize {
		return fmt.Errorf("key %q is not %d hexadecimal digits", id, 2*keySize)
	}
	if _, ok := r.keys[id]; ok {
		return fmt.Errorf("two keys are named %q", id)
	}
	r.keys[id] = key
	return nil
}

// Active returns the ID of the key that new ciphertexts are made with.
func (r *Ring) Active() string { return r.active }

// IDs returns the IDs of all keys, sorted.
func (r *Ring) IDs() []string {
	ids := make([]string, 0, len(r.keys))
	for id := range r.keys {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Format writes the IDs of the keys, whatever the verb.
func (r *Ring) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "vault keys %s, active %s", strings.Join(r.IDs(), ", "), r.active) // a State takes everything
}
