package access

import (
	"hash/crc32"
	"math/big"
	"strings"
)

// A token is "tbay_", 43 digits of base 62 that are 32 random bytes, and 6 that are
// the CRC-32 of all before them. By the prefix scanners find one that leaked, and by
// the check they leave alone what only looks like one: tbay_[0-9A-Za-z]{49}.
const (
	tokenPrefix = "tbay_"
	tokenDigits = 43
	checkDigits = 6
	tokenLength = len(tokenPrefix) + tokenDigits + checkDigits
)

// newToken returns a token that nobody can guess.
func newToken() string {
	body := tokenPrefix + base62(new(big.Int).SetBytes(random()), tokenDigits)
	return body + tokenCheck(body)
}

// wellFormed reports whether a text is a token by its looks, so that what is none
// costs nothing.
func wellFormed(token string) bool {
	if len(token) != tokenLength || !strings.HasPrefix(token, tokenPrefix) {
		return false
	}
	body := token[:tokenLength-checkDigits]
	return token[tokenLength-checkDigits:] == tokenCheck(body)
}

func tokenCheck(body string) string {
	return base62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))), checkDigits)
}

// base62 writes n with exactly as many digits, which are enough for it: first the
// figures, then the capitals, then the small letters.
func base62(n *big.Int, digits int) string {
	text := []byte(strings.Repeat("0", digits))
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	rest, base := new(big.Int).Set(n), big.NewInt(int64(len(alphabet)))
	for i := digits - 1; i >= 0; i-- {
		var digit big.Int
		rest.DivMod(rest, base, &digit)
		text[i] = alphabet[digit.Int64()]
	}
	return string(text)
}
