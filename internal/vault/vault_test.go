package vault_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/vault"
)

const canary = "canary-7f3a9c51"

var (
	one   = "one:" + strings.Repeat("01", 32)
	two   = "two:" + strings.Repeat("02", 32)
	owner = vault.Owner{Organisation: "acme", Agent: "a1"}
)

func ring(t *testing.T, keys, active string) *vault.Ring {
	t.Helper()
	r, err := vault.ParseRing(keys, active)
	if err != nil {
		t.Fatalf("ParseRing() error = %v", err)
	}
	return r
}

func seal(t *testing.T, r *vault.Ring, plaintext string) string {
	t.Helper()
	sealed, err := r.Seal(owner, []byte(plaintext))
	if err != nil {
		t.Fatalf("Seal() error = %v", err)
	}
	return sealed
}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	r := ring(t, one, "")
	for _, plaintext := range []string{canary, "", strings.Repeat("é", 100_000)} {
		sealed := seal(t, r, plaintext)
		if plaintext != "" && strings.Contains(sealed, plaintext) {
			t.Errorf("the ciphertext shows its content")
		}
		got, err := r.Open(owner, sealed)
		if err != nil || string(got) != plaintext {
			t.Errorf("Open() = %d bytes, %v; want the %d that were sealed", len(got), err, len(plaintext))
		}
	}
	first, second := seal(t, r, canary), seal(t, r, canary)
	if first == second {
		t.Error("the same content sealed twice is the same ciphertext")
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	sealed := seal(t, ring(t, one, ""), canary)
	segments := strings.Split(sealed, ".")
	header, err := base64.RawURLEncoding.DecodeString(segments[0])
	if err != nil || len(segments) != 5 || segments[1] != "" {
		t.Fatalf("%q is no compact JWE with a direct key", sealed)
	}
	want := `{"agent":"a1","alg":"dir","enc":"A256GCM","kid":"one","organisation":"acme"}`
	if diff := cmp.Diff(want, string(header)); diff != "" {
		t.Errorf("header mismatch (-want +got):\n%s", diff)
	}
}

func TestMoved(t *testing.T) {
	t.Parallel()
	r := ring(t, one, "")
	sealed := seal(t, r, canary)
	for _, other := range []vault.Owner{
		{Organisation: "acme", Agent: "a2"}, {Organisation: "other", Agent: "a1"}, {Organisation: "a1", Agent: "acme"}, {},
	} {
		if got, err := r.Open(other, sealed); !errors.Is(err, vault.ErrDamaged) || got != nil {
			t.Errorf("Open(%+v) = %q, %v; want ErrDamaged", other, got, err)
		}
	}
}

// TestTampered changes each character of a ciphertext in turn.
func TestTampered(t *testing.T) {
	t.Parallel()
	r := ring(t, one, "")
	sealed := seal(t, r, canary)
	for i := range sealed {
		if lastOfSegment := i+1 == len(sealed) || sealed[i+1] == '.'; lastOfSegment {
			continue // some of its bits carry nothing
		}
		changed := sealed[:i] + map[bool]string{true: "B", false: "A"}[sealed[i] == 'A'] + sealed[i+1:]
		if _, err := r.Open(owner, changed); err == nil {
			t.Errorf("a ciphertext changed at %d of %d opens", i, len(sealed))
		}
	}
}

// TestRewritten gives a ciphertext another header, as one who can write to the
// database but has no key could.
func TestRewritten(t *testing.T) {
	t.Parallel()
	r := ring(t, one+","+two, "")
	_, rest, _ := strings.Cut(seal(t, r, canary), ".")
	for name, header := range map[string]string{
		"another agent":     `{"agent":"a2","alg":"dir","enc":"A256GCM","kid":"one","organisation":"acme"}`,
		"another key":       `{"agent":"a1","alg":"dir","enc":"A256GCM","kid":"two","organisation":"acme"}`,
		"unknown key":       `{"agent":"a1","alg":"dir","enc":"A256GCM","kid":"three","organisation":"acme"}`,
		"no key":            `{"agent":"a1","alg":"dir","enc":"A256GCM","organisation":"acme"}`,
		"another algorithm": `{"agent":"a1","alg":"A256KW","enc":"A256GCM","kid":"one","organisation":"acme"}`,
		"another cipher":    `{"agent":"a1","alg":"dir","enc":"A128GCM","kid":"one","organisation":"acme"}`,
		"odd owner":         `{"agent":["a1"],"alg":"dir","enc":"A256GCM","kid":"one","organisation":"acme"}`,
		"no object":         `[]`,
	} {
		changed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + rest
		who := owner
		if name == "another agent" {
			who.Agent = "a2"
		}
		if _, err := r.Open(who, changed); err == nil {
			t.Errorf("%s: it opens", name)
		}
	}
	for _, nothing := range []string{"", "....", canary, "{}"} {
		if _, err := r.Open(owner, nothing); !errors.Is(err, vault.ErrDamaged) {
			t.Errorf("Open(%q) error = %v, want ErrDamaged", nothing, err)
		}
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	before := ring(t, one, "")
	between := ring(t, one+" "+two, "two")
	after := ring(t, two, "")
	old := seal(t, before, canary)

	if got, err := between.Open(owner, old); err != nil || string(got) != canary {
		t.Errorf("with both keys, Open() = %q, %v; want the content", got, err)
	}
	fresh, err := between.Reseal(owner, old)
	if err != nil || fresh == old {
		t.Fatalf("Reseal() = %q, %v; want another ciphertext", fresh, err)
	}
	if id, err := vault.KeyOf(fresh); err != nil || id != "two" {
		t.Errorf("KeyOf() = %q, %v; want two", id, err)
	}
	if again, err := between.Reseal(owner, fresh); err != nil || again != fresh {
		t.Errorf("Reseal() of a fresh ciphertext = %q, %v; want the same one", again, err)
	}
	if got, err := after.Open(owner, fresh); err != nil || string(got) != canary {
		t.Errorf("without the old key, Open() = %q, %v; want the content", got, err)
	}
	var unknown *vault.UnknownKeyError
	if _, err := after.Open(owner, old); !errors.As(err, &unknown) || unknown.ID != "one" {
		t.Errorf("without the old key, Open() of the old ciphertext error = %v, want to hear of key one", err)
	}
	if _, err := between.Reseal(vault.Owner{Organisation: "acme", Agent: "a2"}, old); !errors.Is(err, vault.ErrDamaged) {
		t.Errorf("Reseal() for another agent error = %v, want ErrDamaged", err)
	}
}

func TestParseRing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		keys, active string
		ids          []string
		wantActive   string
	}{
		"one":            {one, "", []string{"one"}, "one"},
		"the first":      {two + "," + one, "", []string{"one", "two"}, "two"},
		"chosen":         {two + ", " + one, "one", []string{"one", "two"}, "one"},
		"lines":          {"\n" + one + "\r\n\t" + two + "\n", "", []string{"one", "two"}, "one"},
		"capital digits": {"k.1_-:" + strings.Repeat("AB", 32), "", []string{"k.1_-"}, "k.1_-"},
	}
	for name, tc := range tests {
		r := ring(t, tc.keys, tc.active)
		if diff := cmp.Diff(tc.ids, r.IDs()); diff != "" || r.Active() != tc.wantActive {
			t.Errorf("%s: active %q, keys mismatch (-want +got):\n%s", name, r.Active(), diff)
		}
	}
}

func TestParseRingRefuses(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("c0", 32)
	tests := map[string]struct{ keys, active, want string }{
		"nothing":        {" ,\n", "", "there is no key"},
		"no name":        {digits, "", "key 1 has no name"},
		"empty name":     {one + ",:" + digits, "", "key 2 has no name"},
		"turned round":   {digits + ":one", "", "key 1 has no name"},
		"short":          {"one:" + digits[2:], "", `key "one" is not 64 hexadecimal digits`},
		"long":           {"one:" + digits + "00", "", `key "one" is not 64`},
		"no digits":      {"one:" + strings.Repeat("zz", 32), "", `key "one" is not 64`},
		"twice":          {one + "," + one, "", `two keys are named "one"`},
		"unknown active": {one + "," + two, "three", "there are: one, two"},
		"too many":       {strings.Repeat(one+",", 101), "", "at most 100"},
	}
	for name, tc := range tests {
		_, err := vault.ParseRing(tc.keys, tc.active)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error = %v, want one that contains %q", name, err, tc.want)
		}
		if err != nil && strings.Contains(err.Error(), digits[:20]) {
			t.Errorf("%s: the error shows a key: %v", name, err)
		}
	}
}

func TestRingHidesItsKeys(t *testing.T) {
	t.Parallel()
	r := ring(t, one, "")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		got := fmt.Sprintf(verb, r)
		if want := "vault keys one, active one"; got != want {
			t.Errorf("%s shows %q, want %q", verb, got, want)
		}
	}
}
