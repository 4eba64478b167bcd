package apifuzz

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// request is one request, as it is made and as it is shown when it fails.
type request struct {
	number         int
	operation      *operation // nil if it is of none
	principal      principal
	method, target string
	header         http.Header
	body           string
	canary, secret string
}

// String shows the request so that it can be read and made again.
func (r *request) String() string {
	var header strings.Builder
	for name, values := range r.header {
		for _, v := range values {
			fmt.Fprintf(&header, "%s: %.300q\n", name, v)
		}
	}
	return fmt.Sprintf("request %d as %s:\n%s %.1000q\n%s\n%.3000s", r.number, r.principal.name, r.method, r.target, header.String(), r.body)
}

// make makes a request: most are of an operation, and most of those nearly right.
func (m *maker) make(number int) *request {
	r := &request{
		number: number, header: http.Header{}, canary: m.canary, secret: m.secret,
		principal: m.world.principals[0],
	}
	if m.chance(40) {
		r.principal = pick(m, m.world.principals...)
	}
	if m.chance(5) {
		m.nowhere(r)
		return r
	}
	o := pick(m, m.world.document.operations...)
	r.operation, r.method = &o, o.Method
	r.target = "/api/v1" + m.path(o) + m.query(o)
	if o.Body != nil || m.chance(3) {
		m.fill(r, o)
	}
	if m.chance(4) {
		r.method = pick(m, "PATCH", "OPTIONS", "TRACE", "PUT", "POST", "DELETE", "HEAD", "QUERY", "get")
		r.operation = m.world.document.find(r.method, o.Path)
	}
	if m.chance(10) {
		m.tricks(r)
	}
	return r
}

// find returns the operation of a method at a path; nil if there is none.
func (d *document) find(method, path string) *operation {
	for _, o := range d.operations {
		if o.Path == path && (o.Method == method || o.Method == http.MethodGet && method == http.MethodHead) {
			return &o
		}
	}
	return nil
}

// nowhere asks for an address that is none.
func (m *maker) nowhere(r *request) {
	r.method = pick(m, "GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "HEAD", "OPTIONS")
	r.target = pick(m,
		"/api", "/api/", "/api/v1", "/api/v1/", "/api/v2/tasks", "/api/v1/"+m.canary, "/api/v1//tasks", "/api/v1/tasks/", "/api/v1/../tasks", "/api/v1/%2e%2e/tasks",
		"/api/v1/agents/a/b/c/d", "/api/v1/tasks/%00/events", "/api/v1/tasks;"+m.canary, "/api/v1/openapi.json/"+m.canary, "/api/v1/docs/../../", "/api/v1/tasks%2f"+m.canary,
		"/api/v1/"+strings.Repeat("a/", 2000),
	)
}

// path puts IDs into an operation's path.
func (m *maker) path(o operation) string {
	path := o.Path
	kind := strings.Split(path, "/")[1]
	for _, p := range o.Parameters {
		if p.In != "path" {
			continue
		}
		id := m.world.id(m, kind)
		switch {
		case p.Name == "runId":
			id = m.world.id(m, "runs")
		case p.Name == "memberId":
			id = m.world.id(m, "members")
		case o.Path == "/"+kind+"/{id}" && o.Method == http.MethodDelete && m.world.spare[kind] != "" && m.chance(95):
			id = m.world.spare[kind] // the others are to be worked with
		}
		switch {
		case m.chance(8):
			id = m.world.id(m, pick(m, "agents", "tasks", "commands", "exchanges", "pins", "members", "teams", "grants"))
		case m.chance(10):
			id = pick(m, "x", m.canary, strings.ToUpper(id), id+" ", "00000000-0000-0000-0000-000000000000", "{"+id+"}", strings.Repeat("9", 3000), "\x00", "é", "..", "a/b", "%", "' OR 1=1 --"+m.canary)
		}
		path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(id), 1)
	}
	return path
}

// query makes the parameters of the query, and gives the required ones most of the
// time.
func (m *maker) query(o operation) string {
	var pairs []string
	for _, p := range o.Parameters {
		if p.In != "query" || m.chance(55) {
			continue
		}
		text := strings.Trim(fmt.Sprint(m.valid(p.Schema, p.Name)), `"`)
		switch p.Name {
		case "wait":
			text = "0" // a longer one is only waited for
		case "agentId", "memberId", "teamId":
			text = m.world.id(m, strings.TrimSuffix(p.Name, "Id")+"s")
		}
		if m.chance(25) {
			text = pick(m, "", "-1", "61", "1e1", "99999999999999999999", m.text(), strings.Repeat("z", 5000), "0x10", " 1", "1.0", "true", "\xff")
		}
		pairs = append(pairs, url.QueryEscape(p.Name)+"="+url.QueryEscape(text))
		if m.chance(4) {
			pairs = append(pairs, pairs[len(pairs)-1])
		}
	}
	if m.chance(3) {
		pairs = append(pairs, pick(m, "unknown="+m.canary, "%zz="+m.canary, ";", "&&", "=", "%00="+m.canary, "limit%00=1", strings.Repeat("a=b&", 3000)))
	}
	if len(pairs) == 0 {
		return ""
	}
	return "?" + strings.Join(pairs, "&")
}

// fill gives a request the headers and the body that its operation takes.
func (m *maker) fill(r *request, o operation) {
	r.header.Set("Content-Type", "application/json")
	for _, p := range o.Parameters {
		if p.In == "header" && p.Name == "Idempotency-Key" && m.chance(95) {
			r.header.Set(p.Name, pick(m, m.canary, m.canary, m.canary, "again", "a b", strings.Repeat("k", 255), strings.Repeat("k", 256), "é"+m.canary, ""))
		}
	}
	var v value = "{}"
	if o.Body != nil {
		v = m.valid(*o.Body, "")
	}
	if whole := m.whole(o.ID); whole != nil && m.chance(40) {
		v = whole
	}
	if m.chance(45) {
		for range m.IntN(3) + 1 {
			v = m.mutate(v)
		}
	}
	var out strings.Builder
	write(&out, v)
	r.body = out.String()
	switch at := m.IntN(len(r.body) + 1); {
	case m.chance(2):
		r.body = r.body[:at]
	case m.chance(2):
		r.body = r.body[:at] + pick(m, "\x00", "\xff", "{", "]", ",", "\ufeff", "x") + r.body[at:]
	case m.chance(1):
		r.body += pick(m, " {}", "\n", "x", strings.Repeat(" ", 100_000))
	}
}

// whole makes a body whose members go together, as the schema alone cannot say; nil for
// an operation without such.
func (m *maker) whole(operation string) value {
	switch operation {
	case "set-credential":
		return &object{[]member{{"kind", `"bearer"`}, {"secret", quoted(m.secret)}, {"origins", &list{[]value{quoted(m.world.origin)}}}}}
	case "set-interface":
		return &object{[]member{{"binding", `"JSONRPC"`}, {"protocolVersion", `"1.0"`}, {"url", quoted(m.world.origin + "/form/rpc")}}}
	case "add-member":
		return &object{[]member{{"issuer", `"https://id.example.com"`}, {"subject", quoted(m.canary)}, {"name", quoted(m.canary)}, {"role", quoted(pick(m, "admin", "operator", "viewer"))}}}
	case "change-team":
		return &object{[]member{{"members", &list{[]value{quoted(m.world.id(m, "members"))}}}}}
	case "add-grant":
		return &object{[]member{{"agentId", quoted(m.world.granted)}, {"teamId", quoted(m.world.id(m, "teams"))}, {"permission", quoted(pick(m, "read", "operate"))}}}
	}
	return nil
}

// tricks adds headers that somebody might believe.
func (m *maker) tricks(r *request) {
	switch m.IntN(9) {
	case 0:
		r.header.Set("Content-Type", pick(m, "", "text/plain", "application/xml", "application/json; charset=utf-16", "application/json;"+m.canary, "multipart/form-data; boundary="+m.canary, "application/cbor"))
	case 1:
		r.header.Set("Accept", pick(m, "text/html", "application/cbor", "*/*;q=0", m.canary, "application/xml"))
	case 2:
		r.header.Set("X-HTTP-Method-Override", "DELETE")
		r.header.Set("X-Forwarded-Host", m.canary)
		r.header.Set("X-Original-URL", "/metrics")
	case 3:
		r.header["Last-Event-Id"] = pick(m, []string{"99999999999999999999"}, []string{m.canary}, []string{"-1"}, []string{"1", "2"}, []string{"9223372036854775807"}, []string{""})
	case 4:
		r.header["Idempotency-Key"] = []string{m.canary, m.canary + "2"}
	case 5:
		r.header.Set("Range", pick(m, "bytes=0-0", "bytes=-1", "bytes=9999999-", "bytes=0-1,3-4,0-1", m.canary))
		r.header.Set("If-None-Match", pick(m, "*", `"`+m.canary+`"`, `W/"x"`))
	case 6:
		r.header.Set("Origin", pick(m, "https://"+m.canary+".example", "null", "http://127.0.0.1:1"))
		r.header.Set("Sec-Fetch-Site", pick(m, "cross-site", "same-origin", "none", m.canary))
	case 7:
		r.header.Set("Content-Encoding", pick(m, "gzip", "br", m.canary))
	default:
		r.header.Set("X-Long", strings.Repeat(m.canary, 2000))
	}
}

// send makes the request.
func (r *request) send(c *http.Client, server string) (*http.Response, error) {
	made, err := http.NewRequest(r.method, server, nil)
	if err != nil {
		return nil, err
	}
	target, query, asked := strings.Cut(r.target, "?")
	made.URL.Opaque, made.URL.RawQuery, made.URL.ForceQuery = target, query, asked
	if r.body != "" {
		made.Body, made.ContentLength = io.NopCloser(strings.NewReader(r.body)), int64(len(r.body))
	}
	for name, values := range r.principal.header {
		made.Header[name] = values
	}
	for name, values := range r.header {
		made.Header[name] = values
	}
	return c.Do(made)
}
