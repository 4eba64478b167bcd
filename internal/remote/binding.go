package remote

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	sdkclient "github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// binding is one way to put A2A on the wire: what the SDK does for it, and what
// has to be done around the SDK.
type binding struct {
	version string // of A2A, for the A2A-Version header

	// open returns the SDK's transport to an endpoint over an HTTP client.
	open func(endpoint *url.URL, client *http.Client) sdkclient.Transport

	// taskID and tenant prepare a value, which may hold anything, for the SDK.
	taskID func(string) (sdk.TaskID, error)
	tenant func(string) (string, error)

	// send puts the exact message and metadata into a request that the SDK wrote.
	send func(request []byte, values map[string][]byte) []byte

	// result is a result as the SDK expects to read it.
	result func(skeleton string) string
}

// bindings are those that can be spoken, by binding and major version.
var bindings = map[[2]string]binding{
	{JSONRPC, "1"}: {
		version: "1.0",
		open: func(endpoint *url.URL, client *http.Client) sdkclient.Transport {
			return sdkclient.NewJSONRPCTransport(endpoint.String(), client)
		},
		taskID: func(id string) (sdk.TaskID, error) { return sdk.TaskID(id), nil },
		tenant: func(tenant string) (string, error) { return tenant, nil },
		send: func(request []byte, values map[string][]byte) []byte {
			params := rawjson.Replace(rawjson.Member(request, "params"), values)
			return rawjson.Replace(request, map[string][]byte{"params": params})
		},
		result: func(skeleton string) string { return `{"jsonrpc":"2.0","id":"","result":` + skeleton + `}` },
	},
	{HTTPJSON, "1"}: {
		version: "1.0",
		open: func(endpoint *url.URL, client *http.Client) sdkclient.Transport {
			return sdkclient.NewRESTTransport(endpoint, client)
		},
		taskID: pathTaskID,
		tenant: pathTenant,
		send:   rawjson.Replace,
		result: func(skeleton string) string { return skeleton },
	},
}

// bindingOf returns how to speak to an interface.
func bindingOf(i Interface) (binding, error) {
	name := strings.ToUpper(strings.TrimSpace(i.Binding))
	version := strings.TrimPrefix(strings.TrimSpace(i.ProtocolVersion), "v")
	if b, ok := bindings[[2]string{name, majorOf(version)}]; ok {
		return b, nil
	}
	return binding{}, &Error{
		Delivery: NotSent,
		Message: fmt.Sprintf("This version of Taskbay cannot speak %s of A2A %s yet. It speaks JSONRPC and HTTP+JSON of A2A 1.0.",
			cleaned(i.Binding, 40), cleaned(version, 20)),
	}
}

// majorOf returns the first number of a version. An interface that names no
// version is taken at its binding: only A2A 1.0 has interfaces with a binding.
func majorOf(version string) string {
	if version == "" {
		return "1"
	}
	major, _, _ := strings.Cut(version, ".")
	return major
}

// pathTaskID escapes an ID for the path of a request. The SDK puts an ID into the
// path as it is and unescapes the result twice, so it is escaped twice here.
func pathTaskID(id string) (sdk.TaskID, error) {
	if id == "" || isDots(id) {
		return "", &Error{Delivery: NotSent, Message: "The agent's ID for this task cannot be part of an address, so the agent cannot be asked about it."}
	}
	return sdk.TaskID(url.PathEscape(url.PathEscape(id))), nil
}

// pathTenant escapes a tenant, which may span several segments, for the path. The
// SDK unescapes it once.
func pathTenant(tenant string) (string, error) {
	if tenant == "" {
		return "", nil
	}
	segments := strings.Split(strings.Trim(tenant, "/"), "/")
	for i, segment := range segments {
		if segment == "" || isDots(segment) {
			return "", &Error{Delivery: NotSent, Message: "The tenant in the agent's card cannot be part of an address."}
		}
		segments[i] = url.PathEscape(segment)
	}
	return strings.Join(segments, "/"), nil
}

// isDots reports whether a path segment means another place in the path.
func isDots(segment string) bool { return segment == "." || segment == ".." }

// endpointOf checks the address of an interface.
func endpointOf(i Interface) (*url.URL, error) {
	endpoint, err := url.Parse(i.URL)
	if err == nil && (endpoint.Scheme == "http" || endpoint.Scheme == "https") && endpoint.Host != "" && endpoint.User == nil {
		endpoint.Fragment = ""
		return endpoint, nil
	}
	return nil, &Error{
		Delivery: NotSent,
		Message:  fmt.Sprintf("The address of the agent's interface is not usable: %q. It has to be an http or https address without a user name.", cleaned(i.URL, 200)),
		Err:      err,
	}
}
