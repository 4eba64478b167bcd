package vault_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/vault"
)

func TestSealFor(t *testing.T) {
	t.Parallel()
	ring := func(keys, active string) *vault.Ring {
		r, err := vault.ParseRing(keys, active)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	old := ring(one, "one")
	sealed, err := old.SealFor("a purpose", []byte("plain"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := old.SealFor("a purpose", []byte("plain")); err != nil || again == sealed || strings.Contains(sealed, "plain") {
		t.Errorf("the same text is sealed into %q and %q, %v", sealed, again, err)
	}
	if plain, err := ring(one+","+two, "two").OpenFor("a purpose", sealed); err != nil || string(plain) != "plain" {
		t.Errorf("after a rotation, OpenFor = %q, %v", plain, err)
	}
	of, err := old.Seal(vault.Owner{}, []byte("plain"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ purpose, sealed string }{
		"another purpose":          {"another", sealed},
		"the purpose of a code":    {"seal: a purpose", sealed},
		"what belongs to an owner": {"a purpose", of},
		"what was changed":         {"a purpose", sealed[:len(sealed)-4] + "AAAA"},
		"nothing":                  {"a purpose", ""},
	} {
		if plain, err := old.OpenFor(tc.purpose, tc.sealed); !errors.Is(err, vault.ErrDamaged) {
			t.Errorf("%s: OpenFor = %q, %v; want ErrDamaged", name, plain, err)
		}
	}
	if plain, err := old.Open(vault.Owner{}, sealed); !errors.Is(err, vault.ErrDamaged) {
		t.Errorf("as a credential: Open = %q, %v; want ErrDamaged", plain, err)
	}
	var unknown *vault.UnknownKeyError
	if _, err := ring(two, "two").OpenFor("a purpose", sealed); !errors.As(err, &unknown) || unknown.ID != "one" {
		t.Errorf("without its key: %v, want that it is unknown", err)
	}
}
