package console_test

import (
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console"
)

// TestTextsThatAreRefused: a text that does not exist, and words that would lose a value, are found when the console is made,
// all of them at once.
func TestTextsThatAreRefused(t *testing.T) {
	require.True(t, slices.IsSorted(console.Texts()))
	require.Contains(t, console.Texts(), "Inbox")
	require.NotContains(t, console.Texts(), "")
	config := open(t, nil).config
	config.Lang = "de_CH"
	config.Texts = map[string]string{"Inbox": "Posteingang", "inbox": "Posteingang", "{lines} lines, {size}.": "{lines} Zeilen."}
	_, err := console.New(config)
	require.ErrorContains(t, err, "console: texts: ")
	for _, want := range []string{`"de_CH"`, `"inbox"`, `"{lines} lines, {size}."`} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), `"Inbox"`)
}

// TestTheConfigurationIsTaken: what a host does with its map afterwards changes no page.
func TestTheConfigurationIsTaken(t *testing.T) {
	own := map[string]string{"Inbox": "Posteingang"}
	s := open(t, func(c *console.Config) { c.Lang, c.Texts = "de", own })
	own["Inbox"] = "elsewhere"
	body := s.do("olga", "GET", "page:/", nil, 200).Body.String()
	require.Contains(t, body, `<html lang="de" dir="ltr">`)
	require.Contains(t, body, "<h1>Posteingang</h1>")
	require.NotContains(t, body, "elsewhere")
}

// TestTheAPIStaysEnglish: programs read it, and compare.
func TestTheAPIStaysEnglish(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Texts = map[string]string{"Not found": "Nicht da"} })
	require.Equal(t, "Not found", s.refused("olga", "GET", "/proposals/"+absent, nil, 404, "unknown").Title)
	w := httptest.NewRecorder()
	s.console.ServeHTTP(w, request(t, "olga", "GET", "page:/proposals/"+absent, nil))
	require.Contains(t, w.Body.String(), "Nicht da")
}
