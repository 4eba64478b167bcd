package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/agent-taskbay/taskbay/internal/remote"
)

// methods are the names of A2A 0.3 over JSON-RPC.
var methods = map[string]string{
	"message/send": "SendMessage", "message/stream": "SendStreamingMessage", "tasks/resubscribe": "SubscribeToTask",
	"tasks/get": "GetTask", "tasks/cancel": "CancelTask",
}

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	method, taskID := pathCall(r)
	if f.way.Binding == remote.JSONRPC {
		method, taskID = bodyCall(body)
	} else if taskID == "" {
		taskID = messageTask(body)
	}
	say := f.called(method, taskID, body)
	switch {
	case say.HTTP != nil:
		say.HTTP(w, r)
	case streams(method):
		f.stream(w, r, method, say)
	case say.Error != nil:
		f.refuse(w, *say.Error)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, f.Envelope(f.Wire(single(method, say.Events))))
	}
}

// bodyCall reads a JSON-RPC request.
func bodyCall(body []byte) (method, taskID string) {
	var request struct {
		Method string
		Params struct {
			ID      string
			Message struct{ TaskID string }
		}
	}
	_ = json.Unmarshal(body, &request)
	method = request.Method
	if name, ok := methods[method]; ok {
		method = name
	}
	return method, request.Params.ID + request.Params.Message.TaskID
}

func messageTask(body []byte) string {
	var request struct{ Message struct{ TaskID string } }
	_ = json.Unmarshal(body, &request)
	return request.Message.TaskID
}

// pathCall reads the path of an HTTP+JSON request.
func pathCall(r *http.Request) (method, taskID string) {
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/base"), "/v1")
	taskID, verb, _ := strings.Cut(strings.TrimPrefix(path, "/tasks/"), ":")
	switch {
	case path == "/message:send":
		return "SendMessage", ""
	case path == "/message:stream":
		return "SendStreamingMessage", ""
	case path == "/tasks":
		return "ListTasks", ""
	case verb == "subscribe":
		return "SubscribeToTask", taskID
	case verb == "cancel":
		return "CancelTask", taskID
	}
	return "GetTask", taskID
}

// stream says events as server-sent events, each as soon as it is said.
func (f *Fake) stream(w http.ResponseWriter, r *http.Request, method string, say Say) {
	if say.Error != nil && len(say.Events) == 0 {
		f.refuse(w, *say.Error)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := w.(http.Flusher).Flush
	flush()
	for _, event := range say.Events {
		fmt.Fprintf(w, "data: %s\n\n", f.Envelope(f.Wire(event)))
		flush()
	}
	if say.Error != nil {
		fmt.Fprintf(w, "data: %s\n\n", f.errorBody(*say.Error))
	}
	if say.Hold {
		select {
		case <-r.Context().Done():
		case <-f.ended:
		}
	}
}

// refuse answers with an error.
func (f *Fake) refuse(w http.ResponseWriter, e Refusal) {
	w.Header().Set("Content-Type", "application/json")
	if f.way.Binding == remote.HTTPJSON {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = io.WriteString(w, f.errorBody(e))
}

func (f *Fake) errorBody(e Refusal) string {
	data := ""
	if e.Data != "" {
		data = `,"data":` + e.Data
	}
	body := fmt.Sprintf(`{"code":%d,"message":%q%s}`, e.Code, e.Message, data)
	if f.way.Binding == remote.JSONRPC {
		return `{"jsonrpc":"2.0","id":"1","error":` + body + `}`
	}
	return body
}

// Envelope puts a result into what the binding has around it.
func (f *Fake) Envelope(result string) string {
	if f.way.Binding == remote.JSONRPC {
		return `{"jsonrpc":"2.0","id":"1","result":` + result + `}`
	}
	return result
}

// Wire returns an event, a task or a message of A2A 1.0 as the agent's version
// writes it.
func (f *Fake) Wire(event string) string {
	if !f.way.Legacy() {
		return event
	}
	return legacy([]byte(event), f.way.Binding == remote.HTTPJSON)
}
