package anthropic

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// APIError is what the API says about a request that failed. Its text leaves the message out, which may quote
// the conversation.
type APIError struct {
	Type      string // such as rate_limit_error
	RequestID string // for Anthropic's support
	Message   string // for the host's developers
}

// Error says which kind of error it is and of which request.
func (e *APIError) Error() string {
	text := e.Type
	if text == "" {
		text = "an error without a type"
	}
	if e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	return text
}

var (
	errBreaksOff  = errors.New("the stream ended before the answer did")
	errUnreadable = errors.New("the answer cannot be read")
	errOutOfOrder = errors.New("the stream has its events out of order")
	errNoReason   = errors.New("the answer does not say why it ended")
)

func broken(err error) error {
	return &chattools.ModelError{Trouble: chattools.TroubleStream, Retry: true, Err: err}
}

// trouble makes a ModelError of an error of the SDK, or returns the context's. The SDK's error is not kept: it
// holds the request with its key.
func trouble(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return answered(e)
	}
	if e, ok := errors.AsType[*url.Error](err); ok { // its text has the address, which a host may keep to itself
		return &chattools.ModelError{Trouble: chattools.TroubleOverloaded, Retry: true, Err: e.Err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &chattools.ModelError{Trouble: chattools.TroubleOverloaded, Retry: true, Err: context.DeadlineExceeded}
	}
	return broken(errUnreadable)
}

// answered makes a ModelError of an answer of the API. One in the middle of a stream has no status of its own.
func answered(e *sdk.Error) error {
	said := &APIError{string(e.Type()), e.RequestID, e.Message}
	if e.StatusCode == http.StatusOK {
		trouble, retry := kindOf(string(e.Type()))
		return &chattools.ModelError{Trouble: trouble, Retry: retry, Err: said}
	}
	var header http.Header
	if e.Response != nil {
		header = e.Response.Header
	}
	return wire.Failure(e.StatusCode, header, true, said)
}

// kindOf says what an error event means.
func kindOf(kind string) (t chattools.Trouble, retry bool) {
	switch kind {
	case "invalid_request_error", "not_found_error", "request_too_large":
		return chattools.TroubleRequest, false
	case "authentication_error", "permission_error", "billing_error":
		return chattools.TroubleIdentity, false
	case "rate_limit_error":
		return chattools.TroubleRate, true
	case "overloaded_error", "api_error", "timeout_error":
		return chattools.TroubleOverloaded, true
	}
	return chattools.TroubleStream, true
}
