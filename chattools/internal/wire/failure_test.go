package wire_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

func TestFailure(t *testing.T) {
	t.Parallel()
	said := errors.New("said")
	for _, c := range []struct {
		status  int
		header  map[string]string
		waits   bool
		trouble chattools.Trouble
		retry   bool
		after   time.Duration
	}{
		{400, nil, true, chattools.TroubleRequest, false, 0},
		{400, map[string]string{"X-Should-Retry": "true"}, true, chattools.TroubleRequest, true, 0},
		{401, nil, true, chattools.TroubleIdentity, false, 0},
		{429, map[string]string{"Retry-After": "2"}, true, chattools.TroubleRate, true, 2 * time.Second},
		{429, nil, false, chattools.TroubleRate, false, 0},
		{529, map[string]string{"Retry-After-Ms": "20", "Retry-After": "9"}, true, chattools.TroubleOverloaded, true, 20 * time.Millisecond},
		{500, map[string]string{"X-Should-Retry": "false", "Retry-After": "soon"}, true, chattools.TroubleOverloaded, false, 0},
		{503, map[string]string{"Date": "Fri, 01 Jan 2027 00:00:00 GMT", "Retry-After": "Fri, 01 Jan 2027 00:01:00 GMT"}, true, chattools.TroubleOverloaded, true, time.Minute},
		{503, map[string]string{"Retry-After": "-5"}, true, chattools.TroubleOverloaded, true, 0},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		require.Equal(t, &chattools.ModelError{Status: c.status, Trouble: c.trouble, Retry: c.retry, After: c.after, Err: said}, wire.Failure(c.status, h, c.waits, said))
	}
}
