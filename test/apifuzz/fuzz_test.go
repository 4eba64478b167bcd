package apifuzz

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	seed     = flag.Uint64("fuzz-seed", 1, "what the requests are made from")
	requests = flag.Int("fuzz-requests", 10_000, "how many requests are made")
	only     = flag.Int("fuzz-only", -1, "make only the request of this number")
)

// TestRandomRequests makes 10,000 requests that the OpenAPI document allows, nearly
// allows or forbids. Whatever comes, no answer is 5xx, each is one that the document
// has, and no problem repeats what was submitted or tells of the inside. A request is
// made again with -fuzz-seed and -fuzz-only.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := &judge{T: t, world: w, shown: make(map[string]bool), answers: make(map[string]map[int]int), client: &http.Client{
		Timeout:       time.Minute,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	defer j.client.CloseIdleConnections()
	var next atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := int(next.Add(1) - 1); i < *requests; i = int(next.Add(1) - 1) {
				if *only < 0 || *only == i {
					j.try(requestOf(w, i))
				}
			}
		})
	}
	all.Wait()
	if *only < 0 {
		j.conclude()
	}
}

// requestOf makes the request of a number. The same seed makes the same one, but for the
// IDs of what a server has.
func requestOf(w *world, number int) *request {
	m := &maker{Rand: rand.New(rand.NewPCG(*seed, uint64(number))), world: w}
	m.canary = fmt.Sprintf("kanarie%016x", m.Uint64())
	m.secret = fmt.Sprintf("geheim%016x", m.Uint64())
	return m.make(number)
}

// judge holds answers to the document.
type judge struct {
	*testing.T
	world  *world
	client *http.Client

	mu      sync.Mutex
	shown   map[string]bool        // faults, of which one request each is shown
	answers map[string]map[int]int // how often each status, by operation
}

// maxShown bounds how many faults are shown.
const maxShown = 40

func (j *judge) fail(r *request, response *http.Response, body []byte, why string) {
	what := why[:min(len(why), 60)]
	if r.operation != nil {
		what += r.operation.ID
	}
	j.mu.Lock()
	known := j.shown[what] || len(j.shown) >= maxShown
	j.shown[what] = true
	j.mu.Unlock()
	if known {
		j.Fail()
		return
	}
	status := ""
	if response != nil {
		status = response.Status + " " + response.Header.Get("Content-Type")
	}
	j.Errorf("%s\n%s\nwas answered %s\n%.3000s", why, r, status, body)
}

func (j *judge) try(r *request) {
	response, err := r.send(j.client, j.world.URL())
	if err != nil {
		j.fail(r, nil, nil, "there is no answer: "+err.Error())
		return
	}
	defer func() { _ = response.Body.Close() }()
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var body []byte
	if mediaType == "text/event-stream" && r.method != http.MethodHead {
		body, err = firstEvent(response.Body)
	} else {
		body, err = io.ReadAll(response.Body)
	}
	if err != nil {
		j.fail(r, response, body, "the answer breaks off: "+err.Error())
		return
	}
	j.count(r, response.StatusCode)
	for _, wrong := range j.faults(r, response, mediaType, body) {
		j.fail(r, response, body, wrong)
	}
}

// firstEvent returns the data of a stream's first event; nothing for a reader who has
// missed none.
func firstEvent(stream io.ReadCloser) ([]byte, error) {
	quiet := time.AfterFunc(time.Second, func() { _ = stream.Close() })
	defer quiet.Stop()
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			return data, nil
		}
		if err != nil {
			if errors.Is(err, http.ErrBodyReadAfterClose) || errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "closed") {
				return nil, nil
			}
			return nil, err
		}
	}
}

func (j *judge) count(r *request, status int) {
	if r.operation == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.answers[r.operation.ID] == nil {
		j.answers[r.operation.ID] = make(map[int]int)
	}
	j.answers[r.operation.ID][status]++
}

// inside is what an answer says only by mistake.
var inside = regexp.MustCompile(`goroutine \d|\.go:\d|runtime error|panic|SQLSTATE|(?i:select .* from |insert into |sqlite|pgx|no such column|syntax error at)|reflect\.|json: |huma|/tmp/|0x[0-9a-f]{8,}`)

// faults returns what is wrong with an answer.
func (j *judge) faults(r *request, response *http.Response, mediaType string, body []byte) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	status := response.StatusCode
	if status >= 500 {
		add("it is a %d", status)
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
		if response.Header.Get(name) != want {
			add("%s is %q", name, response.Header.Get(name))
		}
	}
	for name, values := range response.Header {
		if text := strings.Join(values, " "); strings.Contains(text, r.canary) && name != "Content-Disposition" || strings.Contains(text, r.secret) {
			add("the header %s repeats what was submitted", name)
		}
	}
	if bytes.Contains(body, []byte(r.secret)) || r.principal.token != "" && bytes.Contains(body, []byte(r.principal.token)) {
		add("it repeats a secret")
	}
	if !r.principal.sees() {
		wrong = append(wrong, j.strangers(r, body)...)
	}
	if status >= 400 {
		wrong = append(wrong, j.problemFaults(r, status, mediaType, body)...)
	}
	if r.operation == nil || r.operation.Method != r.method && r.method != http.MethodHead {
		if status < 400 && r.method != http.MethodOptions {
			add("there is no such operation, and it is answered %d", status)
		}
		return wrong
	}
	types, documented := r.operation.Responses[strconv.Itoa(status)]
	if !documented && !elsewhere[status] {
		add("the document has no %d of %s", status, r.operation.ID)
	}
	if len(body) == 0 || !documented {
		return wrong
	}
	if !types[mediaType] && !(types["application/octet-stream"] && status == http.StatusOK) {
		add("the document has no %s for %d of %s", mediaType, status, r.operation.ID)
	}
	if s := j.world.document.answers[r.operation.ID+" "+strconv.Itoa(status)+" "+mediaType]; s != nil && oneValue[mediaType] {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err == nil {
			err = s.Validate(value)
		}
		if err != nil {
			add("the answer is not as its schema says: %v", err)
		}
	}
	return wrong
}

// strangers returns what is wrong with an answer to somebody who may see nothing: it
// has an ID of something that is there and that was not asked for.
func (j *judge) strangers(r *request, body []byte) (wrong []string) {
	for kind, ids := range j.world.ids {
		for _, id := range ids {
			if bytes.Contains(body, []byte(id)) && !strings.Contains(r.target+r.body, id) {
				wrong = append(wrong, fmt.Sprintf("it tells %s of one of the %s", r.principal.name, kind))
			}
		}
	}
	return wrong
}

// oneValue are the media types of one JSON value; of an event stream its first event is.
var oneValue = map[string]bool{"application/json": true, "application/problem+json": true, "text/event-stream": true}

// elsewhere are statuses that HTTP has for everything, or for ranges of files.
var elsewhere = map[int]bool{
	http.StatusPartialContent: true, http.StatusNotModified: true, http.StatusRequestedRangeNotSatisfiable: true,
	http.StatusPreconditionFailed: true, http.StatusRequestHeaderFieldsTooLarge: true,
}

// problemFaults returns what is wrong with an error.
func (j *judge) problemFaults(r *request, status int, mediaType string, body []byte) (wrong []string) {
	if r.method == http.MethodHead {
		return nil
	}
	if mediaType != "application/problem+json" && !elsewhere[status] && !strings.Contains(r.target, "/ag-ui") {
		return []string{"an error is no problem document"}
	}
	if bytes.Contains(body, []byte(r.canary)) {
		wrong = append(wrong, "the problem repeats what was submitted")
	}
	if found := inside.Find(body); found != nil {
		wrong = append(wrong, fmt.Sprintf("the problem tells of the inside: %s", found))
	}
	if mediaType == "application/problem+json" && !bytes.Contains(body, []byte(fmt.Sprintf(`"status":%d`, status))) {
		wrong = append(wrong, "the problem has another status")
	}
	return wrong
}

// enough are so many requests that each operation gets some of every kind.
const enough = 10_000

// conclude wants every operation to have done what it does, and refused something;
// and nothing in the log that is a fault of the server, or a secret.
func (j *judge) conclude() {
	total := make(map[int]int)
	for _, o := range j.world.document.operations {
		did, refused := 0, 0
		for status, n := range j.answers[o.ID] {
			total[status] += n
			if status < 300 {
				did += n
			} else {
				refused += n
			}
		}
		if *requests >= enough && (did == 0 || refused == 0) {
			j.Errorf("%s did what it does %d times, and refused %d times: %v", o.ID, did, refused, j.answers[o.ID])
		}
	}
	j.Logf("answers by status: %v", total)
	for line := range strings.Lines(j.world.log.text()) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic") {
			j.Errorf("the log has %.2000s", line)
		}
		if strings.Contains(line, "geheim") || strings.Contains(line, "tbay_") {
			j.Errorf("the log has a secret: %.2000s", line)
		}
	}
}
