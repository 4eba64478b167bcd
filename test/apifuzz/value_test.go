package apifuzz

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// value is JSON to be: an *object, a *list, or text that is written as it is.
type value any

type object struct{ members []member }

type member struct {
	name  string
	value value
}

type list struct{ items []value }

func write(out *strings.Builder, v value) {
	switch v := v.(type) {
	case *object:
		out.WriteByte('{')
		for i, m := range v.members {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(quoted(m.name) + ":")
			write(out, m.value)
		}
		out.WriteByte('}')
	case *list:
		out.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				out.WriteByte(',')
			}
			write(out, item)
		}
		out.WriteByte(']')
	case string:
		out.WriteString(v)
	}
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // a string has JSON
	return string(raw)
}

// maker makes values for one request.
type maker struct {
	*rand.Rand
	world  *world
	canary string // stands in texts, and may not come back in a problem
	secret string // stands where secrets go, and may not come back at all
}

func pick[T any](m *maker, from ...T) T { return from[m.IntN(len(from))] }

// chance is true in so many of a hundred cases.
func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

// valid makes a value of a schema. The name of a member tells what would make sense.
func (m *maker) valid(s schema, name string) value {
	if known := m.known(name); known != "" && m.chance(85) {
		return known
	}
	s = m.world.document.resolve(s)
	if len(s.Enum) > 0 {
		return quoted(pick(m, s.Enum...))
	}
	switch s.kind() {
	case "object":
		o := &object{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || m.chance(35) {
				o.members = append(o.members, member{name, m.valid(s.Properties[name], name)})
			}
		}
		return o
	case "array":
		l := &list{}
		for range m.IntN(3) + 1 {
			l.items = append(l.items, m.valid(*s.Items, name))
		}
		return l
	case "integer", "number":
		low, high := 0.0, 100.0
		if s.Minimum != nil {
			low = *s.Minimum
		}
		if s.Maximum != nil {
			high = *s.Maximum
		}
		return strconv.Itoa(int(low) + m.IntN(int(high-low)+1))
	case "boolean":
		return pick(m, "true", "false")
	case "string":
		return quoted(m.text())
	}
	return m.anything(3)
}

// known returns what would make sense for a member of this name; "" if nothing more
// than its schema is known.
func (m *maker) known(name string) string {
	w := m.world
	switch name {
	case "cardUrl", "url", "tokenUrl":
		if m.chance(2) { // each is an agent more
			return quoted(pick(m, "http://127.0.0.1:1/"+m.canary, "http://"+m.canary+":"+m.secret+"@127.0.0.1:1/", "http://["+m.canary, "http://127.0.0.1:1/?"+m.canary))
		}
		return quoted(pick(m, w.addresses...))
	case "protocolVersion":
		return quoted("1.0")
	case "origins":
		return quoted(w.origin)
	case "origin":
		return quoted(pick(m, "https://agents.example.com", "https://a.example:8443/"))
	case "taskId":
		return quoted(w.id(m, "tasks"))
	case "agentId":
		return quoted(w.granted) // what is granted to all may be seen by those who see nothing else
	case "memberId", "teamId":
		return quoted(w.id(m, strings.TrimSuffix(name, "Id")+"s"))
	case "issuer":
		return quoted("https://id.example.com")
	case "answers":
		return quoted(pick(m, w.questions...))
	case "contextId":
		return quoted(m.text())
	case "secret", "username":
		return quoted(m.secret)
	case "key":
		return quoted(`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`)
	case "expiresAt":
		return quoted(pick(m, "2027-06-01T00:00:00Z", "2020-01-01T00:00:00Z", "2027-06-01T00:00:00.123456789+14:00"))
	case "metadata":
		return `{"` + m.canary + `":[1,{"x":null}]}`
	case "definition":
		return pick(m, definitions...)
	case "entered":
		return pick(m, `{}`, `{"n":"3"}`, `{"n":"`+m.canary+`"}`, `{"t":"`+m.canary+`","b":true,"c":null}`)
	}
	return ""
}

var definitions = []string{
	`{"schema":{"type":"object","properties":{"n":{"type":"integer","minimum":1},"t":{"type":"string","maxLength":5},"b":{"type":"boolean"},"c":{"type":"string","enum":["x","y"]}}}}`,
	`{"title":"T","schema":{"type":"object","properties":{"n":{"type":"number","minimum":1e400,"maximum":-0.0}}}}`,
	`{"schema":{"type":"object","properties":{"n":{"$ref":"#/x","pattern":"(a+)+$"}},"required":["m"]}}`,
	`{"schema":{"type":"array"}}`, `{}`, `null`, `[]`,
}

// text makes a text with the canary in it.
func (m *maker) text() string {
	return pick(m,
		m.canary, "a "+m.canary, m.canary+"\u202e\u0000é\U0001F41D", strings.Repeat(m.canary, 40),
		"<script>"+m.canary+"</script>", "'; DROP TABLE task; -- "+m.canary, "../../"+m.canary, "%00"+m.canary, "${"+m.canary+"}", "\ufeff"+m.canary+"\u2028\n\r\t",
	)
}

// anything makes JSON of any kind, so many levels deep.
func (m *maker) anything(depth int) value {
	if depth > 0 && m.chance(40) {
		if m.chance(50) {
			return &list{[]value{m.anything(depth - 1), m.anything(depth - 1)}}
		}
		return &object{[]member{{"a", m.anything(depth - 1)}, {"b/~c", m.anything(depth - 1)}}}
	}
	return pick(m, quoted(m.text()), "12345678901234567890123", "1.0e-7", "-0", "true", "null", "{}", "[]")
}

// hostile makes a value that breaks what most places take.
func (m *maker) hostile() value {
	return pick[func() value](m,
		func() value { return m.anything(3) },
		func() value {
			return pick(m, "1e999", "-1", "9223372036854775808", "1"+strings.Repeat("0", 400), "0.5", "36501", "-9223372036854775808")
		},
		func() value {
			depth := pick(m, 100, 501, 9_990, 20_000)
			return strings.Repeat("[", depth) + strings.Repeat("]", depth)
		},
		func() value { return strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600) },
		func() value { return quoted(strings.Repeat(m.canary+" ", 5_000)) },
		func() value {
			return pick(m, `"\ud800"`, `"\u0000"`, "\"\xff\xfe\"", `"`+m.canary+"\n\"", "NaN", "01", "'"+m.canary+"'")
		},
		func() value { return quoted(m.text()) },
		func() value { return quoted("") },
		func() value { return "null" },
	)()
}

// mutate breaks a value somewhere.
func (m *maker) mutate(v value) value {
	switch v := v.(type) {
	case *object:
		if len(v.members) > 0 && m.chance(70) {
			i := m.IntN(len(v.members))
			switch m.IntN(5) {
			case 0:
				v.members = slices.Delete(v.members, i, i+1)
			case 1:
				v.members = append(v.members, v.members[i])
			case 2:
				v.members[i].name = pick(m, strings.ToUpper(v.members[i].name), v.members[i].name+" ", "", "a/b~c", "\u0000", strings.Repeat("x", 300))
			default:
				v.members[i].value = m.mutate(v.members[i].value)
			}
			return v
		}
		if m.chance(60) {
			v.members = append(v.members, member{fmt.Sprintf("unknown%d", m.IntN(1000)), m.hostile()})
			return v
		}
	case *list:
		if len(v.items) > 0 && m.chance(70) {
			i := m.IntN(len(v.items))
			v.items[i] = m.mutate(v.items[i])
			return v
		}
		if m.chance(20) {
			for range 150 {
				v.items = append(v.items, m.hostile())
				if len(v.items) > 0 && m.chance(5) {
					break
				}
			}
			return v
		}
	}
	return m.hostile()
}
