package vault

import (
	"crypto/hmac"
	"crypto/sha256"
)

// MAC returns an authentication code of a text for a purpose, 32 bytes, made with the
// active key, and that key's ID. Each purpose has a key of its own, which is derived
// from the one of the vault and tells nothing of it (HKDF, RFC 5869), so that a code
// for one purpose is none for another.
func (r *Ring) MAC(purpose, text string) (keyID string, code []byte) {
	return r.active, r.mac(r.active, purpose, text)
}

// CheckMAC reports whether any key of the ring made the code. How long it takes does
// not tell how much of the code is right.
func (r *Ring) CheckMAC(purpose, text string, code []byte) bool {
	right := false
	for id := range r.keys {
		if hmac.Equal(r.mac(id, purpose, text), code) {
			right = true
		}
	}
	return right
}

func (r *Ring) mac(keyID, purpose, text string) []byte {
	code := hmac.New(sha256.New, r.derive(keyID, purpose))
	_, _ = code.Write([]byte(text)) // never fails
	return code.Sum(nil)
}

// Holds reports whether the ring has the key of that ID.
func (r *Ring) Holds(keyID string) bool {
	_, ok := r.keys[keyID]
	return ok
}
