package wire

import (
	"net/http"
	"strconv"
	"time"

	"github.com/sallyport-dev/sallyport/chattools"
)

// Failure makes a ModelError of the status and the headers of an answer. What the API advises about retrying
// outranks what the status says. After too many requests, waits says whether waiting helps.
func Failure(status int, h http.Header, waits bool, err error) *chattools.ModelError {
	m := &chattools.ModelError{Status: status, Err: err, After: after(h)}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		m.Trouble = chattools.TroubleIdentity
	case status == http.StatusTooManyRequests:
		m.Trouble, m.Retry = chattools.TroubleRate, waits
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict:
		m.Trouble, m.Retry = chattools.TroubleOverloaded, true
	default:
		m.Trouble = chattools.TroubleRequest
	}
	if advice, err := strconv.ParseBool(h.Get("x-should-retry")); err == nil {
		m.Retry = advice
	}
	return m
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
