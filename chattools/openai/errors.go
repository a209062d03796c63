package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// APIError is what the API says about a request that failed. Its text leaves the message out, which may quote
// the conversation or the key.
type APIError struct {
	Type      string // such as invalid_request_error
	Code      string // such as context_length_exceeded
	RequestID string // for the provider's support
	Message   string // for the host's developers
}

var (
	kindPattern    = regexp.MustCompile(`^[a-z_]{1,64}$`)
	requestPattern = regexp.MustCompile(`^req_[a-zA-Z0-9]{1,64}$`)
)

// Error says which kind of error it is and of which request, in words that the API documents.
func (e *APIError) Error() string {
	text := "an error without a type"
	for _, kind := range []string{e.Type, e.Code} {
		if kindPattern.MatchString(kind) {
			text = kind
		}
	}
	if requestPattern.MatchString(e.RequestID) {
		text += ", request " + e.RequestID
	}
	return text
}

var (
	errBreaksOff   = errors.New("the stream ended before the answer did")
	errUnreadable  = errors.New("the answer cannot be read")
	errOutOfOrder  = errors.New("the stream has its events out of order")
	errNoReason    = errors.New("the answer does not say why it ended")
	errNothingSaid = errors.New("the conversation is empty")
)

func broken(err error) error {
	return &chattools.ModelError{Trouble: chattools.TroubleStream, Retry: true, Err: err}
}

// trouble makes a ModelError of an error of the SDK, or returns the context's. The SDK's error is not kept: it
// holds the request with its key.
func trouble(ctx context.Context, answer *http.Response, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if answer != nil && answer.StatusCode >= 400 {
		return answered(answer)
	}
	if e, ok := errors.AsType[*url.Error](err); ok { // its text has the address, which a host may keep to itself
		return &chattools.ModelError{Trouble: chattools.TroubleOverloaded, Retry: true, Err: e.Err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &chattools.ModelError{Trouble: chattools.TroubleOverloaded, Retry: true, Err: context.DeadlineExceeded}
	}
	return broken(errUnreadable)
}

// problem is an error as the API writes it. Some servers have numbers as codes.
type problem struct {
	Type    words `json:"type"`
	Code    words `json:"code"`
	Message words `json:"message"`
}

func (p problem) error(request string) *APIError {
	return &APIError{string(p.Type), string(p.Code), request, string(p.Message)}
}

// words is a string, or nothing if something else stands in its place.
type words string

// UnmarshalJSON never fails.
func (w *words) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*w = words(wire.Clean(text))
	}
	return nil
}

// answered makes a ModelError of an answer of the API.
func answered(answer *http.Response) error {
	defer func() { _ = answer.Body.Close() }()
	var body struct {
		problem
		Error json.RawMessage `json:"error"`
	}
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	p := problem{}
	if json.Unmarshal(raw, &body) == nil {
		if p = body.problem; len(body.Error) > 0 && body.Error[0] == '{' {
			_ = json.Unmarshal(body.Error, &p)
		}
	}
	waits := p.Code != noQuota && p.Type != noQuota
	return wire.Failure(answer.StatusCode, answer.Header, waits, p.error(answer.Header.Get("x-request-id")))
}

// noQuota is the kind of an error that has the status of too many requests, and does not pass by waiting.
const noQuota = "insufficient_quota"

// inside makes a ModelError of an error within an answer, which has no status of its own.
func inside(p problem) error {
	m := &chattools.ModelError{Trouble: chattools.TroubleStream, Retry: true, Err: p.error("")}
	for _, kind := range []words{p.Type, p.Code} {
		switch kind {
		case "invalid_request_error", "invalid_prompt", "context_length_exceeded", "model_not_found", "not_found_error",
			"data_residency_mismatch", "bio_policy", "misalignment_policy_violation":
			m.Trouble, m.Retry = chattools.TroubleRequest, false
		case "authentication_error", "permission_error", "invalid_api_key":
			m.Trouble, m.Retry = chattools.TroubleIdentity, false
		case noQuota:
			m.Trouble, m.Retry = chattools.TroubleRate, false
		case "rate_limit_exceeded", "rate_limit_error", "tokens", "requests":
			m.Trouble = chattools.TroubleRate
		case "server_error", "internal_error", "internal_server_error", "overloaded_error", "service_unavailable_error":
			m.Trouble = chattools.TroubleOverloaded
		}
	}
	return m
}
