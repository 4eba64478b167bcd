// Package signature verifies the signatures of Agent Cards (A2A 1.0, 8.4): JSON
// Web Signatures over the card's canonical form (RFC 7515, RFC 8785). It looks
// for no keys: those that count are given to it.
package signature

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// MaxSignatures is how many signatures of a card are looked at.
const MaxSignatures = 20

// algorithms are those that a card may be signed with.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA}

// Errors of Verify, for errors.Is.
var (
	ErrUnsigned = errors.New("the card carries no signature")
	ErrNoKey    = errors.New("no key is known for the card")
	ErrInvalid  = errors.New("no signature of the card holds")
)

// entry is one signature as a card has it (A2A 1.0, 4.4.7).
type entry struct {
	Protected string
	Signature string
}

// Verify returns the key that a signature of the card holds with; one is enough.
// Without one its error is ErrUnsigned, ErrNoKey for a card that is signed in a
// way that could hold, or a text for the card's author that wraps ErrInvalid.
// Anything that a card says about where a key may be found is passed over.
func Verify(card []byte, keys []Key) (Key, error) {
	entries, err := signatures(card)
	if err != nil {
		return Key{}, err
	}
	var whys []error
	usable := entries[:0:0]
	for i, e := range entries {
		if err := e.check(); err != nil {
			whys = append(whys, fmt.Errorf("signature %d %w", i+1, err))
			continue
		}
		usable = append(usable, e)
	}
	switch {
	case len(usable) == 0:
		return Key{}, fmt.Errorf("%w: %w", ErrInvalid, errors.Join(whys...))
	case len(keys) == 0:
		return Key{}, ErrNoKey
	}
	forms, err := canonicalForms(card)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	for _, e := range usable {
		for _, key := range keys {
			if e.holds(forms, key) {
				return key, nil
			}
		}
	}
	return Key{}, fmt.Errorf("%w: none of its %d signatures is by a key that is pinned, over the card as it came", ErrInvalid, len(entries))
}

// signatures returns those of a card, at most MaxSignatures of them. Like everything
// that reads a card it goes by the very name of a member, and passes over a byte
// order mark and what follows the card, which no signature holds for.
func signatures(card []byte) ([]entry, error) {
	var whole json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(card, byteOrderMark))).Decode(&whole); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	list := rawjson.Member(whole, "signatures")
	switch rawjson.KindOf(list) {
	case rawjson.Absent, rawjson.Null:
		return nil, ErrUnsigned
	case rawjson.Array:
	default:
		return nil, fmt.Errorf("%w: its signatures are no list", ErrInvalid)
	}
	var entries []entry
	for one := range rawjson.Elements(list) {
		if len(entries) == MaxSignatures {
			break
		}
		var e entry // without a text in its place, check refuses it
		e.Protected, _ = rawjson.Text(rawjson.Member(one, "protected"))
		e.Signature, _ = rawjson.Text(rawjson.Member(one, "signature"))
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return nil, ErrUnsigned
	}
	return entries, nil
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// check refuses what cannot hold whatever the key. Its error goes on a sentence.
func (e entry) check() error {
	raw, err := base64.RawURLEncoding.DecodeString(e.Protected)
	if err != nil || e.Protected == "" || e.Signature == "" {
		return errors.New("is not in the form of a JSON Web Signature")
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(raw, &header); err != nil {
		return errors.New("has a protected header that is no JSON object")
	}
	for _, name := range []string{"crit", "b64"} {
		if _, ok := header[name]; ok {
			return fmt.Errorf("has %s in its protected header, which is not taken", name)
		}
	}
	var algorithm string
	if err := json.Unmarshal(header["alg"], &algorithm); err != nil {
		return errors.New("names no algorithm in its protected header")
	}
	for _, known := range algorithms {
		if algorithm == string(known) {
			return nil
		}
	}
	return fmt.Errorf("has an algorithm that is not taken; cards are signed with RS256, ES256 or EdDSA")
}

// holds reports whether the signature is one of the key over one of the forms.
func (e entry) holds(forms [][]byte, key Key) bool {
	for _, form := range forms {
		var flat bytes.Buffer
		err := json.NewEncoder(&flat).Encode(map[string]string{
			"payload": base64.RawURLEncoding.EncodeToString(form), "protected": e.Protected, "signature": e.Signature,
		})
		if err != nil {
			return false
		}
		signed, err := jose.ParseSignedJSON(flat.String(), algorithms)
		if err != nil || len(signed.Signatures) != 1 {
			return false
		}
		if id := signed.Signatures[0].Protected.KeyID; id != "" && key.ID != "" && id != key.ID {
			return false
		}
		if signed.Signatures[0].Protected.Algorithm != key.algorithm() {
			return false
		}
		if _, err := signed.Verify(key.Public); err == nil {
			return true
		}
	}
	return false
}
