package texts_test

import (
	"html/template"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console/internal/texts"
)

func catalog(t *testing.T, lang string, own map[string]string) *texts.Catalog {
	t.Helper()
	var known []string
	for text := range own {
		known = append(known, text)
	}
	c, err := texts.New(lang, own, known)
	require.NoError(t, err)
	return c
}

// TestRefusals: every fault of a catalog is named, and what only looks like a placeholder is none.
func TestRefusals(t *testing.T) {
	known := []string{"Inbox", "{number} of {all}", "by {who}"}
	_, err := texts.New("not a tag", map[string]string{
		"Inbocks": "Eingang", "{number} of {all}": "{number} von {ale}", "by {who}": "von wem", "Inbox": " ",
	}, known)
	require.Error(t, err)
	for _, want := range []string{`"not a tag"`, `"Inbocks"`, `"{number} of {all}"`, "[all number]", "[ale number]", `"by {who}"`, `"Inbox"`} {
		require.ErrorContains(t, err, want)
	}
	_, err = texts.New("de", map[string]string{"Inbox": "Eingang {of}"}, known)
	require.ErrorContains(t, err, "[of]")
	for _, own := range []string{"{{.Token}}", "{Of}", "{ }", "}{", "<b>"} {
		_, err = texts.New("de-CH-1996", map[string]string{"Inbox": own, "{number} of {all}": "{all}: {number}, {number}"}, known)
		require.NoError(t, err, own)
	}
}

func TestSay(t *testing.T) {
	english := new(texts.Catalog)
	require.Equal(t, "2 of 3", english.Say("{number} of {all}", 2, 3))
	own := catalog(t, "de", map[string]string{"{number} of {all}": "von {all} sind es {number}", "Inbox": "Posteingang"})
	require.Equal(t, "von 3 sind es 2", own.Say("{number} of {all}", 2, 3))
	require.Equal(t, "von {number} sind es {all}", own.Say("{number} of {all}", "{all}", "{number}"), "a value is no text")
	require.Equal(t, "Posteingang", own.Say("Inbox"))
	require.Equal(t, "Outbox", own.Say("Outbox"))
	require.Equal(t, "by \u2068sam\u2069", catalog(t, "ar", nil).Say("by {who}", "sam"))
}

func TestDirections(t *testing.T) {
	for lang, want := range map[string]string{
		"en": "ltr", "de-CH": "ltr", "he": "rtl", "HE-il": "rtl", "ar-EG": "rtl", "ar-Latn": "ltr", "az-Arab-IR": "rtl", "az": "ltr", "pa-arab": "rtl",
		"ur": "rtl", "yi": "rtl", "art": "ltr", "en-a-arab": "ltr", "sl-rozaj-1994": "ltr", "uz-Cyrl": "ltr", "dv": "rtl",
	} {
		require.Equal(t, want, catalog(t, lang, nil).Dir(), lang)
		require.Equal(t, lang, catalog(t, lang, nil).Lang())
	}
}

// page renders the source of a template in the words of a catalog.
func page(t *testing.T, c *texts.Catalog, source string, data any) string {
	t.Helper()
	text, err := c.Expand(source)
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, template.Must(template.New("").Parse(text)).Execute(&b, data))
	return b.String()
}

// TestTemplates: sentences with elements and other sentences in them, in the order of another language, each value isolated.
func TestTemplates(t *testing.T) {
	source := `<h1>[[Inbox]]</h1><a title="[[Open {what}|{{.A}}]]">[[{a} before {b}|<b>{{.A}}</b>|{{if .B}}[[some {b}|{{.B | html}}]]{{end}}]]</a>`
	data := map[string]string{"A": "a&b", "B": "x"}
	require.Equal(t, `<h1>Inbox</h1><a title="Open a&amp;b"><bdi><b>a&amp;b</b></bdi> before <bdi>some <bdi>x</bdi></bdi></a>`, page(t, new(texts.Catalog), source, data))
	own := catalog(t, "fa", map[string]string{"{a} before {b}": "{b}/{a}", "Open {what}": "{what}!", "some {b}": "{b}{b}"})
	require.Equal(t, "<h1>Inbox</h1><a title=\"\u2068a&amp;b\u2069!\"><bdi><bdi>x</bdi><bdi>x</bdi></bdi>/<bdi><b>a&amp;b</b></bdi></a>", page(t, own, source, data))

	list, err := texts.Of(source)
	require.NoError(t, err)
	require.Equal(t, []string{"Inbox", "Open {what}", "{a} before {b}", "some {b}"}, list)
}

// TestWordsAreText: whatever a replacement says, it is text where it stands.
func TestWordsAreText(t *testing.T) {
	for _, evil := range []string{"<script>alert(1)</script>", "{{.Secret}}", `" onclick="x`, "`${1}`", "]]|[[", "\\\"}}{{.Secret}}", "</title>", "\x00\n\u2028"} {
		own := catalog(t, "en", map[string]string{"Inbox": evil, "by {who}": evil + "{who}"})
		got := page(t, own, `<title>[[Inbox]]</title><p title="[[Inbox]]" data-x='[[Inbox]]'>[[by {who}|{{.Who}}]]</p>`, map[string]string{"Secret": "s3cret", "Who": "sam"})
		require.NotContains(t, got, "s3cret", evil)
		require.Equal(t, 1, strings.Count(got, "</title>"), evil)
		require.NotContains(t, got, "<script", evil)
		require.NotContains(t, got, `" onclick`, evil)
		require.Contains(t, got, "<bdi>sam</bdi></p>")
	}
}

// TestMistakes: what is wrong in a template is an error before it is parsed.
func TestMistakes(t *testing.T) {
	for source, want := range map[string]string{
		"[[Inbox": "does not end", "[[a [[b]]": "does not end", "[[by {who}]]": "has 0 values", "[[by|x]]": "has 1 values", "[[{a} {a}|x|y]]": "has 2 values",
		"[[by {who}|[[of {whom}]]]]": "has 0 values",
	} {
		_, err := new(texts.Catalog).Expand(source)
		require.ErrorContains(t, err, want, source)
		_, err = texts.Of(source)
		require.ErrorContains(t, err, want, source)
	}
}
