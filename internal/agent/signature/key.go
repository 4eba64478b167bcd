package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/agent-taskbay/taskbay/internal/fault"
)

// Key is a public key that cards may be signed with.
type Key struct {
	ID     string // the "kid" that signatures name it by; "" for any
	Public crypto.PublicKey
}

const (
	maxKeyText = 16 << 10
	maxKeyID   = 200
	minRSA     = 2048 // bits
)

// ParseKey reads a public key as a person has it: PEM (a public key or a
// certificate), or a JSON Web Key. id is the "kid" to take it for; "" for the one
// that a JSON Web Key names, or any. Its error is a *fault.Error of kind
// Unprocessable.
func ParseKey(text, id string) (Key, error) {
	text = strings.TrimSpace(text)
	key := Key{ID: id}
	switch {
	case text == "" || len(text) > maxKeyText || len(id) > maxKeyID:
		return Key{}, badKey("Give one public key, in PEM form or as a JSON Web Key.")
	case strings.Contains(text, "PRIVATE KEY") || strings.HasPrefix(text, "{") && hasPrivate(text):
		return Key{}, badKey("This is a private key. Give the public one, and treat the private one as lost if others saw it.")
	case strings.HasPrefix(text, "{"):
		var jwk jose.JSONWebKey
		if err := json.Unmarshal([]byte(text), &jwk); err != nil {
			return Key{}, badKey("This is not a JSON Web Key that can be read.")
		}
		key.Public = jwk.Key
		if id == "" {
			key.ID = jwk.KeyID
		}
	default:
		block, _ := pem.Decode([]byte(text))
		if block == nil {
			return Key{}, badKey("This is not a key in PEM form: it has no line with BEGIN PUBLIC KEY.")
		}
		key.Public = publicOf(block)
	}
	if key.algorithm() == "" {
		return Key{}, badKey("Keys are RSA of at least 2048 bits, on the curve P-256, or Ed25519.")
	}
	return key, nil
}

func hasPrivate(text string) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &members) == nil && (members["d"] != nil || members["k"] != nil)
}

func publicOf(block *pem.Block) crypto.PublicKey {
	if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
		return certificate.PublicKey
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil
	}
	return public
}

func badKey(message string) error {
	return fault.WithFields("This key cannot be pinned. "+message, []fault.Field{{Location: "key", Message: message}})
}

// algorithm returns the one algorithm that the key signs with; "" if it is of no
// kind that is taken.
func (k Key) algorithm() string {
	switch key := k.Public.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() >= minRSA {
			return string(jose.RS256)
		}
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return string(jose.ES256)
		}
	case ed25519.PublicKey:
		return string(jose.EdDSA)
	}
	return ""
}

// Algorithm returns RS256, ES256 or EdDSA.
func (k Key) Algorithm() string { return k.algorithm() }

// JWK returns the key as a JSON Web Key, which ParseKey reads.
func (k Key) JWK() (string, error) {
	raw, err := json.Marshal(jose.JSONWebKey{Key: k.Public, KeyID: k.ID, Algorithm: k.algorithm(), Use: "sig"})
	return string(raw), err
}

// Thumbprint names the key by its content (RFC 7638, SHA-256), as other tools do.
func (k Key) Thumbprint() string {
	sum, err := (&jose.JSONWebKey{Key: k.Public}).Thumbprint(crypto.SHA256)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}
