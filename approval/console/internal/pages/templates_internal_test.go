package pages

import (
	"html"
	"html/template"
	"regexp"
	"strings"
	"testing"
	"text/template/parse"
	"unicode"

	"github.com/stretchr/testify/require"
)

// TestTemplatesSayNothingThemselves walks through the trees of all templates: letters outside tags, or in an attribute that
// is shown or read out, are those of a constant, which is a text's.
func TestTemplatesSayNothingThemselves(t *testing.T) {
	screens := english.parse()
	require.Greater(t, len(screens), 10)
	for name, screen := range screens {
		require.Empty(t, walk(screen, "layout.html"), name)
	}
	for _, name := range sources() {
		require.NotRegexp(t, `\{\{-? *"`, source(name), "a constant is a text's alone: %s", name)
	}

	for source, want := range map[string][]string{
		`<p>Hello {{.}}</p>`:                                                        {"Hello"},
		`{{if .}}<b class="x">{{.}}</b>{{else}}No{{end}}`:                           {"No"},
		`{{range .}}{{.}}{{else}}<td colspan="3">None</td>{{end}}`:                  {"None"},
		`{{with .}}{{template "part" .}}{{end}}{{define "part"}}<i>Part</i>{{end}}`: {"Part"},
		`<input placeholder="{{.}} now" value="given" name="n">`:                    {"now"},
		`<a aria-label="{{if .}}Open{{end}}" href="/x">{{.}}</a>`:                   {"Open"},
		`<a title='Go'>1 &middot; 2</a>`:                                            {"Go"},
		`<title>{{.}} of all</title><b translate="no">CSV</b>`:                      {"of all"},
		`{{template "tag" .}}>Later{{define "tag"}}<p id="x" data-x="y"{{end}}`:     {"Later"},
	} {
		require.Equal(t, want, walk(template.Must(template.New("x").Parse(source)), "x"), source)
	}
}

// walker goes through a template as through the text that it makes.
type walker struct {
	set   *template.Template
	found []string

	tag    bool   // inside a tag
	quote  byte   // of the attribute's value that it is in
	text   string // of the tag so far
	exempt bool   // in an element that is not to be translated
}

func walk(set *template.Template, name string) []string {
	w := &walker{set: set}
	w.node(set.Lookup(name).Tree.Root)
	return w.found
}

func (w *walker) node(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, n := range n.Nodes {
				w.node(n)
			}
		}
	case *parse.TextNode:
		w.words(string(n.Text))
	case *parse.IfNode:
		w.branches(n.List, n.ElseList)
	case *parse.WithNode:
		w.branches(n.List, n.ElseList)
	case *parse.RangeNode:
		w.branches(n.List, n.ElseList)
	case *parse.TemplateNode:
		if t := w.set.Lookup(n.Name); t != nil && t.Tree != nil {
			w.node(t.Tree.Root)
		}
	}
}

// branches goes through both, each from where they begin.
func (w *walker) branches(list, other *parse.ListNode) {
	start := *w
	w.node(list)
	start.found = w.found
	*w = start
	w.node(other)
}

// shown are the attributes that somebody reads or hears.
var shown = regexp.MustCompile(`\s(aria-label|aria-description|aria-valuetext|aria-roledescription|placeholder|title|alt|label|content)=["'][^"']*$`)

var entity = regexp.MustCompile(`&[a-zA-Z]+;`)

func (w *walker) words(text string) {
	said := func(s string) {
		s = strings.TrimSpace(html.UnescapeString(entity.ReplaceAllString(s, "")))
		if !w.exempt && strings.ContainsFunc(s, unicode.IsLetter) {
			w.found = append(w.found, s)
		}
	}
	for text != "" {
		switch {
		case !w.tag:
			before, rest, opens := strings.Cut(text, "<")
			said(before)
			if text = rest; opens {
				w.tag, w.text = true, "<"
				w.exempt = w.exempt && !strings.HasPrefix(text, "/")
			}
		case w.quote != 0:
			value, rest, ends := strings.Cut(text, string(w.quote))
			if shown.MatchString(w.text) && !strings.HasPrefix(w.text, "<meta") {
				said(value)
			}
			w.text += value
			if text = rest; ends {
				w.text += string(w.quote)
				w.quote = 0
			}
		default:
			i := strings.IndexAny(text, `"'>`)
			if i < 0 {
				w.text += text
				return
			}
			w.text += text[:i+1]
			if text[i] == '>' {
				w.tag = false
				w.exempt = w.exempt || strings.Contains(w.text, ` translate="no"`)
			} else {
				w.quote = text[i]
			}
			text = text[i+1:]
		}
	}
}
