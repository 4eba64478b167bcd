package access

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
)

func TestTokenFormat(t *testing.T) {
	t.Parallel()
	documented := regexp.MustCompile(`^tbay_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for range 200 {
		token := newToken()
		if !documented.MatchString(token) || !wellFormed(token) || seen[token] {
			t.Fatalf("%s is malformed or came twice", token)
		}
		seen[token] = true
	}
	token := newToken()
	last := "0"
	if strings.HasSuffix(token, last) {
		last = "1"
	}
	for name, other := range map[string]string{
		"nothing": "", "prefix": tokenPrefix, "wrong check": token[:len(token)-1] + last, "longer": token + "0", "shorter": token[:len(token)-1],
		"other prefix": "tbaz_" + token[5:], "other case": strings.ToUpper(token),
	} {
		if wellFormed(other) {
			t.Errorf("%s: taken for a token", name)
		}
	}
}

// TestTokenCheckIsAsDocumented keeps the check what scanners have been told.
func TestTokenCheckIsAsDocumented(t *testing.T) {
	t.Parallel()
	body := tokenPrefix + strings.Repeat("0", tokenDigits)
	if got, want := tokenCheck(body), "4NzmN0"; got != want {
		t.Errorf("check of %s = %s, want %s", body, got, want)
	}
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	if got, want := base62(most, tokenDigits), "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1"; got != want {
		t.Errorf("base62(2^256-1) = %s, want %s", got, want)
	}
}
