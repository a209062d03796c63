package anthropic

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/sallyport-dev/sallyport/chattools"
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
	m := &chattools.ModelError{Status: e.StatusCode, Err: &APIError{string(e.Type()), e.RequestID, e.Message}}
	if m.Status == http.StatusOK {
		m.Status = 0
		m.Trouble, m.Retry = kindOf(string(e.Type()))
		return m
	}
	switch s := m.Status; {
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusPaymentRequired:
		m.Trouble = chattools.TroubleIdentity
	case s == http.StatusTooManyRequests:
		m.Trouble, m.Retry = chattools.TroubleRate, true
	case s >= 500, s == http.StatusRequestTimeout, s == http.StatusConflict:
		m.Trouble, m.Retry = chattools.TroubleOverloaded, true
	default:
		m.Trouble = chattools.TroubleRequest
	}
	if e.Response != nil {
		if advice, err := strconv.ParseBool(e.Response.Header.Get("x-should-retry")); err == nil {
			m.Retry = advice
		}
		m.After = after(e.Response.Header)
	}
	return m
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

// after reads how long the API asks to wait. A moment is measured from the API's own clock.
func after(h http.Header) time.Duration {
	text, unit := h.Get("retry-after-ms"), time.Millisecond
	if text == "" {
		text, unit = h.Get("retry-after"), time.Second
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return max(0, time.Duration(min(n, 1e6)*float64(unit)))
	}
	then, err := http.ParseTime(text)
	now, errNow := http.ParseTime(h.Get("date"))
	if err != nil || errNow != nil {
		return 0
	}
	return max(0, then.Sub(now))
}
