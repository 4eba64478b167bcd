package formview

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/agent-taskbay/taskbay/form"
	"github.com/agent-taskbay/taskbay/internal/fault"
)

// checkBody answers a request to the check page within a frame.
func checkBody(t *testing.T, r *http.Request) (string, error) {
	t.Helper()
	h := CheckHandler{Render: func(w http.ResponseWriter, r *http.Request, body templ.Component) error {
		_, _ = w.Write([]byte("<frame>"))
		return body.Render(r.Context(), w)
	}}
	w := httptest.NewRecorder()
	err := h.Handle(w, r)
	return w.Body.String(), err
}

func checkPost(values url.Values, query string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/form-check"+query, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func TestCheckPage(t *testing.T) {
	t.Parallel()
	const definition = `{"schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer","default":2,"pattern":"x"}}}}`
	tests := map[string]struct {
		request *http.Request
		want    []string
		not     []string
	}{
		"empty": {
			httptest.NewRequest(http.MethodGet, "/form-check", nil),
			[]string{"<frame>", `name="definition"`, "The verdict comes here"}, []string{"This form"},
		},
		"sample": {
			httptest.NewRequest(http.MethodGet, "/form-check?sample=deployment", nil),
			[]string{"This form is drawn", "Deploy the service", "Nothing yet"}, []string{"is not drawn"},
		},
		"unknown sample": {
			httptest.NewRequest(http.MethodGet, "/form-check?sample=../check", nil),
			[]string{"The verdict comes here"}, nil,
		},
		"broken": {
			httptest.NewRequest(http.MethodGet, "/form-check?sample=broken", nil),
			[]string{"is not drawn", "/schema/properties/address/type"}, []string{"structured-form", "form is drawn"},
		},
		"untouched form": {
			checkPost(url.Values{"definition": {definition}}, ""),
			[]string{"<frame>", "/schema/properties/n/pattern", "{\n  &#34;n&#34;: 2\n}"}, []string{"field-error"},
		},
		"filled in": {
			checkPost(url.Values{"definition": {definition}, "entered": {""}, "f.n": {"12345678901234567890"}}, ""),
			[]string{"{\n  &#34;n&#34;: 12345678901234567890\n}"}, []string{"field-error"},
		},
		"filled in wrongly": {
			checkPost(url.Values{"definition": {definition}, "entered": {""}, "f.n": {"x"}}, ""),
			[]string{"Enter a number", "Nothing yet", `value="x"`}, nil,
		},
		"verdict alone": {
			checkPost(url.Values{"definition": {"{"}}, "?part=result"),
			[]string{`<div id="check-result"`, "is not drawn", "(the whole)"}, []string{"<frame>", "<textarea"},
		},
		"hidden characters": {
			checkPost(url.Values{"definition": {"{\"schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"default\":\"x\u202e😀\U000e0041\"}}}}"}}, ""),
			[]string{`x\u202e😀\udb40\udc41`}, nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := checkBody(t, tc.request)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(body, want) {
					t.Errorf("%q is not in\n%s", want, body)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(body, not) {
					t.Errorf("%q is in\n%s", not, body)
				}
			}
		})
	}
}

func TestCheckPageRefusesTooMuch(t *testing.T) {
	t.Parallel()
	_, err := checkBody(t, checkPost(url.Values{"definition": {strings.Repeat("x", maxCheck)}}, ""))
	if got := fault.KindOf(err); got != fault.TooLarge {
		t.Errorf("Handle() error = %v, want too large", err)
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		report := form.Inspect([]byte(s.definition()))
		if report.Accepted != (s.name != "broken") {
			t.Errorf("%s: accepted = %v, reasons %v", s.name, report.Accepted, report.Reasons)
		}
		if report.Accepted && len(report.Advice) > 0 {
			t.Errorf("%s: advice %v, want none for a good example", s.name, report.Advice)
		}
		if !report.Accepted && (len(report.Reasons) < 2 || len(report.Advice) < 3) {
			t.Errorf("%s: reasons %v and advice %v show too little", s.name, report.Reasons, report.Advice)
		}
	}
}
