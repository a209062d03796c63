package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// fields lists a struct's members in JSON, those of embedded structs included.
func fields(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			names = append(names, fields(f.Type)...)
		case name != "-" && f.IsExported():
			names = append(names, name)
		}
	}
	return names
}

// Every field that an answer can have is in the document, and the document has no other: also those that
// answers seldom have.
func TestTheDocumentHasEveryField(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties           map[string]json.RawMessage
				Required             []string
				AdditionalProperties *bool
			}
		}
	}
	require.NoError(t, json.Unmarshal(document, &doc))
	types := map[string]reflect.Type{
		"Proposal": reflect.TypeFor[office.Row](), "OpenedProposal": reflect.TypeFor[Opened](), "ProposalPage": reflect.TypeFor[office.Page](),
		"Record": reflect.TypeFor[record](), "Action": reflect.TypeFor[Action](), "Invoked": reflect.TypeFor[Invoked](), "Tally": reflect.TypeFor[tally](),
		"Settings": reflect.TypeFor[office.Settings](), "StandingGrant": reflect.TypeFor[directory.StandingEntry](), "Actor": reflect.TypeFor[office.Actor](),
		"Cell": reflect.TypeFor[office.Cell](), "Tool": reflect.TypeFor[office.Tool](), "Matrix": reflect.TypeFor[office.Matrix](),
		"Change": reflect.TypeFor[office.Change](), "Problem": reflect.TypeFor[web.Problem](),
	}
	for name, typ := range types {
		s, ok := doc.Components.Schemas[name]
		require.True(t, ok, name)
		require.ElementsMatch(t, slices.Collect(maps.Keys(s.Properties)), fields(typ), name)
		for i := range typ.NumField() {
			f := typ.Field(i)
			member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.Anonymous && f.IsExported() && member != "-" {
				require.Equal(t, options == "", slices.Contains(s.Required, member), "%s.%s is required exactly if it is never left out", name, member)
			}
		}
	}
	for name, s := range doc.Components.Schemas {
		require.NotNil(t, s.AdditionalProperties, name)
		require.False(t, *s.AdditionalProperties, name)
	}
}

// What a spreadsheet could take for a formula has an apostrophe before it, also where one that does not go by commas
// would begin a cell; what cannot be seen is escaped; and any other text stays as it is.
func TestNeutral(t *testing.T) {
	for _, text := range []string{"=1", "+1", "-1", "@a", "\tx", "\rx", "\nx", "\t\t", " =1", "|a", "%a", "＝1", "＠a"} {
		require.Equal(t, "'"+text, neutral(text))
	}
	for _, text := range []string{"", " ", "a=1", "1-1", "'=1", `{"a":1}`, "/orders/W42", `"=1`, "a;b", "a\nb\r\n\tc", `\n \\ \u202e`, "ÿ日🙂"} {
		require.Equal(t, text, neutral(text))
	}
	for text, want := range map[string]string{
		"x;=1": "x;'=1", "x; =1;+2;": "x;' =1;'+2;", "x\t@a": "x\t'@a", "x\n-1": "x\n'-1", "x\r\n=1": "x\r\n'=1", "\n=1": "'\n'=1", ";;=1": ";;'=1",
		"a\u202eb\u200b\x00\x1b\xff": `a\u202eb\u200b\u0000\u001b\xff`, "\u00a0=1": `\u00a0=1`, "\ufeff=1": `\ufeff=1`, "{\"a\":\"\u2066\"}": `{"a":"\u2066"}`,
	} {
		require.Equal(t, want, neutral(text), "%q", text)
	}
}
