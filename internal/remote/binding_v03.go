package remote

import (
	"net/http"
	"net/url"

	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// A2A 0.3 goes through the SDK as 1.0 does, skeletons included. The SDK's own
// translation would drop media types and digits; here it only ever translates
// what stands in the place of a message.

func openV03JSONRPC(endpoint *url.URL, client *http.Client) (a2aclient.Transport, error) {
	return a2av0.NewJSONRPCTransport(a2av0.JSONRPCTransportConfig{URL: endpoint.String(), Client: client}), nil
}

func openV03HTTPJSON(endpoint *url.URL, client *http.Client) (a2aclient.Transport, error) {
	return a2av0.NewRESTTransport(a2av0.RESTTransportConfig{URL: endpoint.String(), Client: client})
}

var skeletonsV03JSONRPC = map[shape]string{
	eventShape:    `{"kind":"message","messageId":"-","role":"agent","parts":[]}`,
	taskShape:     `{"kind":"task","id":"-","contextId":"-","status":{"state":"unknown"}}`,
	pushShape:     `{"taskId":"-","pushNotificationConfig":{"url":"-"}}`,
	pushPageShape: `[]`,
	nothingShape:  `null`,
}

var skeletonsV03HTTPJSON = map[shape]string{
	eventShape:    `{"message":{"messageId":"-","role":"ROLE_AGENT","content":[]}}`,
	taskShape:     `{"id":"-","contextId":"-","status":{"state":"TASK_STATE_UNSPECIFIED"}}`,
	pageShape:     `{"tasks":[]}`,
	pushShape:     `{"name":"tasks/-/pushNotificationConfigs/-","pushNotificationConfig":{"url":"-"}}`,
	pushPageShape: `{"configs":[]}`,
	nothingShape:  `{}`,
}
