package api_test

import (
	"net/http"
	"testing"
)

const definition = `{"schema":{"type":"object","properties":{
	"replicas":{"type":"integer","minimum":1,"maximum":9007199254740993,"default":2},
	"env":{"enum":["staging","production"]},
	"dry":{"type":"boolean"}},"required":["env"]}}`

func TestCheckForm(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{})
	response, got := call(t, "POST", base+"/api/v1/forms/check", `{"definition":`+definition+`}`)
	wantJSON(t, response, got, http.StatusOK, `{"accepted": true, "reasons": [], "advice": [], "form": {
		"title": "Agent request", "submitLabel": "Submit", "fields": [
			{"key": "replicas", "kind": "integer", "label": "replicas", "required": false, "default": 2, "minimum": 1, "maximum": 9007199254740993},
			{"key": "env", "kind": "choice", "label": "env", "required": true, "options": [
				{"value": "staging", "label": "staging"}, {"value": "production", "label": "production"}]},
			{"key": "dry", "kind": "boolean", "label": "dry", "required": false}]}}`)

	response, got = call(t, "POST", base+"/api/v1/forms/check", `{"definition":[]}`)
	wantJSON(t, response, got, http.StatusOK, `{"accepted": false, "advice": [], "reasons": [
		{"path": "", "message": "The definition is an array; it must be an object."}]}`)
}

func TestAnswerForm(t *testing.T) {
	t.Parallel()
	base := setup(t, &fakes{})
	tests := map[string]struct{ entered, want string }{
		"on top of the initial values": {`{"env":"staging"}`, `{"submission": {"replicas": 2, "env": "staging", "dry": false}}`},
		"to the digit":                 {`{"env":"staging","replicas":"9007199254740993","dry":true}`, `{"submission": {"replicas": 9007199254740993, "env": "staging", "dry": true}}`},
		"wrong":                        {`{"replicas":"9007199254740994"}`, `{"errors": {"replicas": "At most 9007199254740993", "env": "Required"}}`},
		"nothing":                      {`null`, `{"errors": {"env": "Required"}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			response, got := call(t, "POST", base+"/api/v1/forms/answer", `{"definition":`+definition+`,"entered":`+tc.entered+`}`)
			wantJSON(t, response, got, http.StatusOK, tc.want)
		})
	}
}
