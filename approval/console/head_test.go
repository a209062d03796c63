package console_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/ledger"
)

// TestHeadDoesNothing: a HEAD of any address that a GET has answers as that does and does nothing: what it leaves on record
// is that the directory was read, where the answer needs it.
func TestHeadDoesNothing(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 1)
	before, asked := s.latest().Seq, 0
	for _, pattern := range slices.Concat(console.Patterns(s.console), console.PagePatterns(s.console)) {
		path, ok := strings.CutPrefix(pattern, "GET ")
		if !ok {
			continue
		}
		path = strings.NewReplacer("{$}", "", "{id}", id, "{tool}", "refund", "{file}", "none").Replace(path)
		r := request(t, "olga", http.MethodHead, "page:"+path, nil)
		w := httptest.NewRecorder()
		s.console.ServeHTTP(w, r)
		switch path {
		case "/api/v1/changes":
			require.Equal(t, http.StatusMethodNotAllowed, w.Code, "a stream has no HEAD")
		case "/assets/none", "/servers":
			require.Equal(t, http.StatusNotFound, w.Code, path)
		default:
			require.Equal(t, http.StatusOK, w.Code, path)
		}
		asked++
	}
	records, err := s.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope, After: before})
	require.NoError(t, err)
	for _, r := range records {
		require.Equal(t, "directory_list", r.Action)
		require.Equal(t, ledger.EventRead, r.Event)
	}
	require.Greater(t, asked, 15)

	w := httptest.NewRecorder()
	s.console.ServeHTTP(w, request(t, "olga", http.MethodHead, "/audit.csv", nil))
	require.Equal(t, "text/csv; charset=utf-8", w.Header().Get("Content-Type"))
	require.Contains(t, w.Header().Get("Content-Disposition"), "audit.csv")
	w = httptest.NewRecorder()
	s.console.ServeHTTP(w, request(t, "sam", http.MethodHead, "/audit.csv", nil))
	require.Equal(t, http.StatusForbidden, w.Code, "who may not export learns nothing by a HEAD")
}
