package vault_test

import (
	"bytes"
	"testing"

	"github.com/agent-taskbay/taskbay/internal/vault"
)

func TestMAC(t *testing.T) {
	t.Parallel()
	ring := func(keys, active string) *vault.Ring {
		r, err := vault.ParseRing(keys, active)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	old := ring(one, "one")
	id, code := old.MAC("push", "text")
	if id != "one" || len(code) != 32 {
		t.Fatalf("MAC() = %s, %d bytes; want the active key and 32 bytes", id, len(code))
	}
	if _, again := old.MAC("push", "text"); !bytes.Equal(code, again) {
		t.Error("the same text has another code the second time")
	}
	rotated := ring(one+","+two, "two")
	if !rotated.CheckMAC("push", "text", code) {
		t.Error("after a rotation, what the old key made is refused")
	}
	if id, _ := rotated.MAC("push", "text"); id != "two" || !rotated.Holds("one") || rotated.Holds("three") {
		t.Errorf("the active key is %s, want two; the ring holds one and two", id)
	}
	changed := bytes.Clone(code)
	changed[31] ^= 1
	for name, is := range map[string]bool{
		"another purpose":         rotated.CheckMAC("pull", "text", code),
		"another text":            rotated.CheckMAC("push", "texts", code),
		"a code that was changed": rotated.CheckMAC("push", "text", changed),
		"half a code":             rotated.CheckMAC("push", "text", code[:16]),
		"no code":                 rotated.CheckMAC("push", "text", nil),
		"a ring without the key":  ring(two, "two").CheckMAC("push", "text", code),
	} {
		if is {
			t.Errorf("%s is taken for right", name)
		}
	}
}
