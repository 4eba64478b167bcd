package remote

// Codes of Error that callers tell apart: the error names of A2A 1.0, section
// 3.3.2, and of JSON-RPC where A2A uses its errors.
const (
	CodeTaskNotFound         = "TaskNotFoundError"
	CodeTaskNotCancelable    = "TaskNotCancelableError"
	CodeUnsupportedOperation = "UnsupportedOperationError"
	CodeVersionNotSupported  = "VersionNotSupportedError"
	CodeExtensionRequired    = "ExtensionSupportRequiredError"
	CodeContentType          = "ContentTypeNotSupportedError"
	CodePushNotSupported     = "PushNotificationNotSupportedError"
	CodeExtendedCard         = "ExtendedAgentCardNotConfiguredError"
	CodeInvalidResponse      = "InvalidAgentResponseError"
	CodeUnauthenticated      = "UnauthenticatedError"
	CodeUnauthorized         = "PermissionDeniedError"
	CodeParse                = "JSONParseError"
	CodeInvalidRequest       = "InvalidRequestError"
	CodeMethodNotFound       = "MethodNotFoundError"
	CodeInvalidParams        = "InvalidParamsError"
	CodeInternal             = "InternalError"
)
