package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

func TestMembersKeepBytesAndOrder(t *testing.T) {
	t.Parallel()
	type member struct{ Name, Value string }
	tests := []struct {
		name, in string
		want     []member
	}{
		{"empty", `{}`, nil},
		{"order and digits", ` { "z" : 1.10 ,"a":9007199254740993, "e":1e400 } `, []member{{"z", "1.10"}, {"a", "9007199254740993"}, {"e", "1e400"}}},
		{"nested", `{"a":{"b":[1, {"}":"]"}]},"c":[ ]}`, []member{{"a", `{"b":[1, {"}":"]"}]}`}, {"c", "[ ]"}}},
		{"escaped names", `{"\u0061\"":"\u0062"}`, []member{{`a"`, `"\u0062"`}}},
		{"repeated", `{"a":1,"a":null}`, []member{{"a", "1"}, {"a", "null"}}},
		{"not an object", `["a"]`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []member
			for name, value := range rawjson.Members([]byte(tt.in)) {
				got = append(got, member{name, string(value)})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Members(%s) mismatch (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	got := rawjson.Replace([]byte(`{ "z": 1.10, "a":{"a":2}, "b" : [ ] }`), map[string][]byte{"a": []byte(`{"n":1e400}`), "x": []byte("1")})
	if want := `{"z":1.10,"a":{"n":1e400},"b":[ ]}`; string(got) != want {
		t.Errorf("Replace = %s, want %s", got, want)
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{`1`: 0, `"[[["`: 0, `{}`: 1, `{"a":[{"b":"]"}]}`: 3, `[[],[[]]]`: 3} {
		if got := rawjson.Depth([]byte(in)); got != want {
			t.Errorf("Depth(%s) = %d, want %d", in, got, want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in, want string
		ok       bool
	}{
		{`"plain"`, "plain", true},
		{` "a\nb\u00e9" `, "a\nbé", true},
		{`"\ud800"`, "\uFFFD", true},
		{"\"\xff\"", "\uFFFD", true},
		{`7`, "", false},
		{`null`, "", false},
	}
	for _, tt := range tests {
		if got, ok := rawjson.Text([]byte(tt.in)); got != tt.want || ok != tt.ok {
			t.Errorf("Text(%s) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

// FuzzWalk holds the walk against encoding/json: on valid text both see the same
// members and elements; on other text the walk just has to end.
func FuzzWalk(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[true,{"c":"\\"}]}`, `[[],{},"\"",-1.5e3]`, `{"a" : null }`, `{"a":`, `["`, `{"\u0041":"\ud83d\ude00"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members := map[string]json.RawMessage{}
		for name, value := range rawjson.Members(data) {
			members[name] = value
		}
		var elements []json.RawMessage
		for value := range rawjson.Elements(data) {
			elements = append(elements, value)
		}
		rawjson.Depth(data)
		rawjson.Text(data)
		if !json.Valid(data) {
			return
		}
		switch rawjson.KindOf(data) {
		case rawjson.Object:
			var want map[string]json.RawMessage
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, members); diff != "" {
				t.Errorf("members mismatch (-encoding/json +walk):\n%s", diff)
			}
		case rawjson.Array:
			var want []json.RawMessage
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			if len(want) != len(elements) {
				t.Fatalf("%d elements, want %d", len(elements), len(want))
			}
			for i := range want {
				if string(want[i]) != string(elements[i]) {
					t.Errorf("element %d = %s, want %s", i, elements[i], want[i])
				}
			}
		}
	})
}
