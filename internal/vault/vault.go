// Package vault encrypts what must not lie readable in the database. A
// ciphertext is a JSON Web Encryption in the compact form (RFC 7516, "dir" with
// A256GCM). Its protected header, which the encryption authenticates, names the
// key and the owner, so a ciphertext that is changed, or moved to another owner,
// does not open.
package vault

import (
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Owner is what a ciphertext belongs to. It opens for no other.
type Owner struct {
	Organisation string
	Agent        string
}

// The owner's members of the protected header.
const (
	headerOrganisation = "organisation"
	headerAgent        = "agent"
)

// ErrDamaged is the cause of an error about a ciphertext that is no ciphertext of
// this vault, was changed, or belongs to another owner.
var ErrDamaged = errors.New("the ciphertext is damaged or belongs to something else")

// UnknownKeyError says that a ciphertext needs a key that the ring does not have.
type UnknownKeyError struct{ ID string }

// Error names the key.
func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("the vault has no key %q", e.ID)
}

// Seal encrypts with the active key, for the owner.
func (r *Ring) Seal(owner Owner, plaintext []byte) (string, error) {
	options := (&jose.EncrypterOptions{}).
		WithHeader(headerOrganisation, owner.Organisation).
		WithHeader(headerAgent, owner.Agent)
	recipient := jose.Recipient{Algorithm: jose.DIRECT, Key: r.keys[r.active], KeyID: r.active}
	return seal(recipient, options, plaintext)
}

func seal(recipient jose.Recipient, options *jose.EncrypterOptions, plaintext []byte) (string, error) {
	encrypter, err := jose.NewEncrypter(jose.A256GCM, recipient, options)
	if err != nil {
		return "", fmt.Errorf("prepare to encrypt: %w", err)
	}
	object, err := encrypter.Encrypt(plaintext)
	if err != nil {
		return "", fmt.Errorf("encrypt: %w", err)
	}
	sealed, err := object.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("write the ciphertext: %w", err)
	}
	return sealed, nil
}

// Open decrypts what Seal made for the same owner. The cause of its error is an
// *UnknownKeyError or ErrDamaged.
func (r *Ring) Open(owner Owner, sealed string) ([]byte, error) {
	object, err := parse(sealed)
	if err != nil {
		return nil, err
	}
	key, ok := r.keys[object.Header.KeyID]
	if !ok {
		return nil, &UnknownKeyError{object.Header.KeyID}
	}
	plaintext, err := object.Decrypt(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	header := object.Header.ExtraHeaders
	if header[headerOrganisation] != owner.Organisation || header[headerAgent] != owner.Agent {
		return nil, ErrDamaged
	}
	return plaintext, nil
}

// Reseal returns a ciphertext of the same content with the active key, or the
// same one if it has that key. Its errors are those of Open.
func (r *Ring) Reseal(owner Owner, sealed string) (string, error) {
	if id, err := KeyOf(sealed); err != nil || id == r.active {
		return sealed, err
	}
	plaintext, err := r.Open(owner, sealed)
	if err != nil {
		return "", err
	}
	return r.Seal(owner, plaintext)
}

// KeyOf returns the ID of the key that a ciphertext says it was made with.
func KeyOf(sealed string) (string, error) {
	object, err := parse(sealed)
	if err != nil {
		return "", err
	}
	return object.Header.KeyID, nil
}

func parse(sealed string) (*jose.JSONWebEncryption, error) {
	object, err := jose.ParseEncryptedCompact(sealed, []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return object, nil
}
