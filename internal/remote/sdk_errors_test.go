package remote_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/agent-taskbay/taskbay/internal/remote"
	"github.com/agent-taskbay/taskbay/internal/remote/agenttest"
)

// failing is a handler on the official SDK that answers every call with an error.
type failing struct {
	a2asrv.RequestHandler // nil: what is not here is not called
	err                   error
}

func (f failing) SendMessage(context.Context, *sdk.SendMessageRequest) (sdk.SendMessageResult, error) {
	return nil, f.err
}

func (f failing) SendStreamingMessage(context.Context, *sdk.SendMessageRequest) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) { yield(nil, f.err) }
}

func (f failing) SubscribeToTask(context.Context, *sdk.SubscribeToTaskRequest) iter.Seq2[sdk.Event, error] {
	return f.SendStreamingMessage(context.Background(), nil)
}

func (f failing) GetTask(context.Context, *sdk.GetTaskRequest) (*sdk.Task, error) { return nil, f.err }

func (f failing) CancelTask(context.Context, *sdk.CancelTaskRequest) (*sdk.Task, error) {
	return nil, f.err
}

// sdkErrors are all that the SDK has, with the code that each is known by.
var sdkErrors = map[error]string{
	sdk.ErrParseError:                   remote.CodeParse,
	sdk.ErrInvalidRequest:               remote.CodeInvalidRequest,
	sdk.ErrMethodNotFound:               remote.CodeMethodNotFound,
	sdk.ErrInvalidParams:                remote.CodeInvalidParams,
	sdk.ErrInternalError:                remote.CodeInternal,
	sdk.ErrServerError:                  remote.CodeServer,
	sdk.ErrTaskNotFound:                 remote.CodeTaskNotFound,
	sdk.ErrTaskNotCancelable:            remote.CodeTaskNotCancelable,
	sdk.ErrPushNotificationNotSupported: remote.CodePushNotSupported,
	sdk.ErrUnsupportedOperation:         remote.CodeUnsupportedOperation,
	sdk.ErrUnsupportedContentType:       remote.CodeContentType,
	sdk.ErrInvalidAgentResponse:         remote.CodeInvalidResponse,
	sdk.ErrExtendedCardNotConfigured:    remote.CodeExtendedCard,
	sdk.ErrExtensionSupportRequired:     remote.CodeExtensionRequired,
	sdk.ErrVersionNotSupported:          remote.CodeVersionNotSupported,
	sdk.ErrUnauthenticated:              remote.CodeUnauthenticated,
	sdk.ErrUnauthorized:                 remote.CodeUnauthorized,
}

// TestEverySDKError lets an agent on the official SDK answer with every error that
// it has, over every binding: each is answered, known by its name, and wraps the
// SDK's own.
func TestEverySDKError(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, way agenttest.Way) {
		client := newClient(t, remote.Options{})
		for cause, code := range sdkErrors {
			agent := agenttest.ServeHandler(t, way, failing{err: sdk.NewError(cause, "because of the moon")})
			for name, operation := range operations {
				_, err := operation(testContext(t), client, targetBy(way, agent))
				e := outcome(t, err)
				if e.Delivery != remote.Answered || e.Code != code || !errors.Is(err, cause) || !strings.Contains(e.Message, "because of the moon") {
					t.Errorf("%v to %s: %s %s %q (%v), want answered %s", cause, name, e.Delivery, e.Code, e.Message, e.Err, code)
				}
			}
		}
	})
}
