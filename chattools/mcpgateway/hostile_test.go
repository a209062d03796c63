package mcpgateway_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
)

func reasonOf(err error) mcpgateway.Reason {
	e, ok := errors.AsType[*mcpgateway.Error](err)
	if !ok {
		return ""
	}
	return e.Reason
}

// TestHostileListing: a server that does not connect or list properly is refused with its name and a reason, and
// the other one goes on.
func TestHostileListing(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]mcpgateway.Reason{
		"banner": mcpgateway.Unreachable, "version": mcpgateway.Unreachable,
		"mute at initialize": mcpgateway.Timeout, "mute at list": mcpgateway.Timeout,
		"tools null": mcpgateway.BadListing, "tools missing": mcpgateway.BadListing, "tools text": mcpgateway.BadListing,
		"same cursor": mcpgateway.Endless, "endless cursors": mcpgateway.Endless, "endless tools": mcpgateway.Endless, "many": mcpgateway.Endless,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *mcpgateway.Config) {
				if strings.HasPrefix(mode, "mute") {
					c.Limits.Connect, c.Limits.List = 2*time.Second, 2*time.Second
				}
			})
			require.NoError(t, w.trust("good", "plain"))
			err := w.trust("evil", mode)
			require.Equal(t, want, reasonOf(err), "%v", err)
			e, _ := errors.AsType[*mcpgateway.Error](err)
			require.Equal(t, "evil", e.Server)
			require.Equal(t, []string{"good_note", "good_read"}, w.names())
			require.Equal(t, chattools.Done, w.call(w.bot, "good_read", `{}`).Status)
		})
	}
}

// TestHostileCall: whatever a server answers, or does not, a call ends.
func TestHostileCall(t *testing.T) {
	t.Parallel()
	const ok = mcpgateway.Reason("")
	for mode, want := range map[string]struct {
		reason mcpgateway.Reason
		text   string // of the result
	}{
		"blank": {ok, "note"}, "plain": {ok, "note"}, "immortal": {ok, "note"},
		"mute at call": {mcpgateway.Timeout, ""}, "string id": {mcpgateway.Timeout, ""}, "deaf": {mcpgateway.Timeout, ""}, "pings": {mcpgateway.Timeout, ""},
		"dies": {mcpgateway.Lost, ""}, "huge": {mcpgateway.TooLarge, ""},
		"protocol error": {mcpgateway.Refused, ""}, "wants input": {mcpgateway.Refused, ""},
		"tool error":      {mcpgateway.ToolFailed, ""},
		"large":           {ok, "It ran. What the server of this tool returned is too large."},
		"unknown content": {ok, "It ran. What the server of this tool returned cannot be shown."},
		"empty result":    {ok, "cannot be shown"}, "null result": {ok, "cannot be shown"}, "duplicate keys": {ok, "cannot be shown"},
		"answers twice":   {ok, `"text":"first"`},
		"structured only": {ok, `"structured":{"id":9007199254740993,"u":18446744073709551615}`},
		"surrogate":       {ok, "a\uFFFDb\uFFFDc"},
		"flood":           {ok, `"text":"ok"`},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *mcpgateway.Config) {
				if want.reason == mcpgateway.Timeout {
					c.Limits.Call = time.Second
				}
			})
			require.NoError(t, w.trust("good", "plain"))
			require.NoError(t, w.trust("evil", mode))
			r, err := w.does("evil_note", `{"text":"`+strings.Repeat("x", 200<<10)+`"}`)
			require.Equal(t, want.reason, reasonOf(err), "%v", err)
			if want.reason == ok {
				require.Contains(t, string(r.JSON), want.text)
			} else {
				e, _ := errors.AsType[*mcpgateway.Error](err)
				require.Equal(t, [2]string{"evil", "note"}, [2]string{e.Server, e.Tool})
			}
			require.Equal(t, chattools.Done, w.call(w.bot, "good_read", `{}`).Status)
		})
	}
}
