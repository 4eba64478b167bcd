package remote

import (
	"fmt"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// Codes of Error that callers tell apart: the error names of A2A 1.0, section
// 3.3.2, and of JSON-RPC where A2A uses its errors.
const (
	CodeTaskNotFound         = "TaskNotFoundError"
	CodeTaskNotCancelable    = "TaskNotCancelableError"
	CodePushNotSupported     = "PushNotificationNotSupportedError"
	CodeUnsupportedOperation = "UnsupportedOperationError"
	CodeContentType          = "ContentTypeNotSupportedError"
	CodeInvalidResponse      = "InvalidAgentResponseError"
	CodeExtendedCard         = "ExtendedAgentCardNotConfiguredError"
	CodeExtensionRequired    = "ExtensionSupportRequiredError"
	CodeVersionNotSupported  = "VersionNotSupportedError"
	CodeParse                = "JSONParseError"
	CodeInvalidRequest       = "InvalidRequestError"
	CodeMethodNotFound       = "MethodNotFoundError"
	CodeInvalidParams        = "InvalidParamsError"
	CodeInternal             = "InternalError"
	CodeUnauthenticated      = "UnauthenticatedError"
	CodeUnauthorized         = "PermissionDeniedError"
	CodeServer               = "ServerError"
)

// protocolError is one error that agents answer with, by all its names.
type protocolError struct {
	code   string
	number int    // of JSON-RPC
	is     error  // of the SDK, whose reason is that of HTTP+JSON and gRPC
	words  string // to a person
}

var protocolErrors = []protocolError{
	{CodeTaskNotFound, -32001, sdk.ErrTaskNotFound, "The agent does not know this task"},
	{CodeTaskNotCancelable, -32002, sdk.ErrTaskNotCancelable, "The agent cannot cancel this task, or not any more"},
	{CodePushNotSupported, -32003, sdk.ErrPushNotificationNotSupported, "The agent sends no push notifications"},
	{CodeUnsupportedOperation, -32004, sdk.ErrUnsupportedOperation, "The agent does not support this"},
	{CodeContentType, -32005, sdk.ErrUnsupportedContentType, "The agent does not take content of this type"},
	{CodeInvalidResponse, -32006, sdk.ErrInvalidAgentResponse, "The agent's answer does not follow A2A"},
	{CodeExtendedCard, -32007, sdk.ErrExtendedCardNotConfigured, "The agent has no extended card"},
	{CodeExtensionRequired, -32008, sdk.ErrExtensionSupportRequired, "The agent requires an extension that was not activated"},
	{CodeVersionNotSupported, -32009, sdk.ErrVersionNotSupported, "The agent does not speak this version of A2A"},
	{CodeParse, -32700, sdk.ErrParseError, "The agent could not read the request"},
	{CodeInvalidRequest, -32600, sdk.ErrInvalidRequest, "The agent did not accept the request"},
	{CodeMethodNotFound, -32601, sdk.ErrMethodNotFound, "The agent does not know this method"},
	{CodeInvalidParams, -32602, sdk.ErrInvalidParams, "The agent did not accept the request"},
	{CodeInternal, -32603, sdk.ErrInternalError, "The agent failed while it handled the request"},
	{CodeServer, -32000, sdk.ErrServerError, "The agent answered with an error"},
	{CodeUnauthenticated, -31401, sdk.ErrUnauthenticated, "The agent wants to know who is calling"},
	{CodeUnauthorized, -31403, sdk.ErrUnauthorized, "The agent does not allow this caller to do this"},
}

// byNumber finds an error by its JSON-RPC code.
func byNumber(number int) (protocolError, bool) {
	for _, e := range protocolErrors {
		if e.number == number {
			return e, true
		}
	}
	return protocolError{}, false
}

// byCode finds an error by its name.
func byCode(code string) (protocolError, bool) {
	for _, e := range protocolErrors {
		if e.code == code {
			return e, true
		}
	}
	return protocolError{}, false
}

// byReason finds an error by the reason of its google.rpc.ErrorInfo, such as
// TASK_NOT_FOUND, or by the last segment of a problem type, such as task-not-found.
func byReason(reason string) (protocolError, bool) {
	reason = strings.ToUpper(strings.ReplaceAll(reason, "-", "_"))
	for _, e := range protocolErrors {
		if reason != "" && sdk.ErrorReason(e.is) == reason {
			return e, true
		}
	}
	return protocolError{}, false
}

// cause returns an error that is the SDK's own, for errors.Is, and says what the
// agent said, for the log.
func (e protocolError) cause(text string) error {
	if text == "" {
		return e.is
	}
	return fmt.Errorf("%w: %s", e.is, text)
}
