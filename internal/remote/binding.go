package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	sdkclient "github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/agent-taskbay/taskbay/internal/a2a"
	"github.com/agent-taskbay/taskbay/internal/a2a/rawjson"
)

// binding is one way to put A2A on the wire: what the SDK does for it, and what
// has to be done around the SDK.
type binding struct {
	name    string // JSONRPC, HTTPJSON or GRPC
	version string // of A2A, for the A2A-Version header

	// open returns the SDK's transport for a call. The call is what the transport
	// sends with, so that it sees the request and the answer before the SDK does.
	open func(*call, Interface) (sdkclient.Transport, error)

	// taskID and tenant prepare a value, which may hold anything, for the SDK.
	taskID func(string) (sdk.TaskID, error)
	tenant func(string) (string, error)

	// message writes a message as the agent reads it.
	message func(a2a.Message) (json.RawMessage, error)

	// send puts the exact message and metadata into a request that the SDK wrote;
	// result is a result as the SDK expects to read it. Over gRPC there is neither:
	// there the SDK has objects instead of text.
	send   func(request []byte, values map[string][]byte) []byte
	result func(skeleton string) string

	// event returns what an agent said as a StreamResponse of A2A 1.0.
	event func(json.RawMessage) json.RawMessage

	// skeletons are the results that the SDK is given, by their shape.
	skeletons map[shape]string
}

// bindings are those that can be spoken.
var bindings = []binding{
	{
		name: JSONRPC, version: "1.0",
		open: overHTTP(func(endpoint *url.URL, client *http.Client) (sdkclient.Transport, error) {
			return sdkclient.NewJSONRPCTransport(endpoint.String(), client), nil
		}),
		taskID: anyTaskID, tenant: anyTenant,
		message: a2a.WireMessage, send: inParams, result: inEnvelope,
		event: a2a.StreamResponse, skeletons: skeletons,
	},
	{
		name: HTTPJSON, version: "1.0",
		open: overHTTP(func(endpoint *url.URL, client *http.Client) (sdkclient.Transport, error) {
			return sdkclient.NewRESTTransport(endpoint, client), nil
		}),
		taskID: pathTaskID, tenant: pathTenant,
		message: a2a.WireMessage, send: rawjson.Replace, result: bare,
		event: a2a.StreamResponse, skeletons: skeletons,
	},
	{
		name: GRPC, version: "1.0", open: openGRPC,
		taskID: anyTaskID, tenant: anyTenant,
		message: grpcMessage, event: a2a.StreamResponse, skeletons: skeletons,
	},
	{
		name: JSONRPC, version: "0.3", open: overHTTP(openV03JSONRPC),
		taskID: anyTaskID, tenant: anyTenant,
		message: a2a.V03JSONRPC.Message, send: inParams, result: inEnvelope,
		event: a2a.V03JSONRPC.Event, skeletons: skeletonsV03JSONRPC,
	},
	{
		name: HTTPJSON, version: "0.3", open: overHTTP(openV03HTTPJSON),
		taskID: pathTaskID, tenant: anyTenant,
		message: a2a.V03HTTPJSON.Message, send: rawjson.Replace, result: bare,
		event: a2a.V03HTTPJSON.Event, skeletons: skeletonsV03HTTPJSON,
	},
}

// bindingOf returns how to speak to an interface. Versions with the same major
// number are spoken alike.
func bindingOf(i Interface) (binding, error) {
	name := strings.ToUpper(strings.TrimSpace(i.Binding))
	version := strings.TrimPrefix(strings.TrimSpace(i.ProtocolVersion), "v")
	found := slices.IndexFunc(bindings, func(b binding) bool {
		return b.name == name && majorOf(b.version) == majorOf(version)
	})
	if found >= 0 {
		return bindings[found], nil
	}
	return binding{}, &Error{
		Delivery: NotSent,
		Message: fmt.Sprintf("Taskbay cannot speak %s of A2A %s. It speaks JSONRPC and HTTP+JSON of A2A 1.0 and 0.3, and GRPC of A2A 1.0.",
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

// overHTTP makes a binding's open of the way in which the SDK opens it.
func overHTTP(open func(*url.URL, *http.Client) (sdkclient.Transport, error)) func(*call, Interface) (sdkclient.Transport, error) {
	return func(c *call, i Interface) (sdkclient.Transport, error) {
		endpoint, err := endpointOf(i)
		if err != nil {
			return nil, err
		}
		return open(endpoint, &http.Client{Transport: c, CheckRedirect: noRedirect})
	}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

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

// inParams replaces members of the parameters of a JSON-RPC request.
func inParams(request []byte, values map[string][]byte) []byte {
	params := rawjson.Replace(rawjson.Member(request, "params"), values)
	return rawjson.Replace(request, map[string][]byte{"params": params})
}

func inEnvelope(skeleton string) string { return `{"jsonrpc":"2.0","id":"","result":` + skeleton + `}` }

func bare(skeleton string) string { return skeleton }

func anyTaskID(id string) (sdk.TaskID, error) { return sdk.TaskID(id), nil }

func anyTenant(tenant string) (string, error) { return tenant, nil }

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
