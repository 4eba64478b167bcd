package vault

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// headerPurpose is the member of the protected header that names what a ciphertext
// of SealFor is for.
const headerPurpose = "purpose"

// SealFor encrypts for a purpose, with a key that is derived for it from the active
// one, as MAC derives its own. What strangers can have encrypted as often as they like
// goes this way: it uses up nothing of the key that credentials lie under.
func (r *Ring) SealFor(purpose string, plaintext []byte) (string, error) {
	options := (&jose.EncrypterOptions{}).WithHeader(headerPurpose, purpose)
	recipient := jose.Recipient{Algorithm: jose.DIRECT, Key: r.derive(r.active, sealing+purpose), KeyID: r.active}
	return seal(recipient, options, plaintext)
}

// OpenFor decrypts what SealFor made for the same purpose. The cause of its error is
// an *UnknownKeyError or ErrDamaged.
func (r *Ring) OpenFor(purpose, sealed string) ([]byte, error) {
	object, err := parse(sealed)
	if err != nil {
		return nil, err
	}
	if _, ok := r.keys[object.Header.KeyID]; !ok {
		return nil, &UnknownKeyError{object.Header.KeyID}
	}
	plaintext, err := object.Decrypt(r.derive(object.Header.KeyID, sealing+purpose))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if object.Header.ExtraHeaders[headerPurpose] != purpose {
		return nil, ErrDamaged
	}
	return plaintext, nil
}

// sealing keeps the keys that encrypt apart from those of MAC, whatever a purpose is
// called.
const sealing = "seal: "

// derive makes a key for a purpose from one of the ring (HKDF, RFC 5869).
func (r *Ring) derive(keyID, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, r.keys[keyID], nil, purpose, keySize)
	if err != nil {
		panic(fmt.Sprintf("vault: a key of %d bytes cannot be derived: %v", keySize, err)) // only more than 255 times as many cannot
	}
	return key
}
