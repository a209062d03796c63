package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/openai"
)

// A tool is strict only if the host asks for it and the model can say everything with it that it could
// without; the logger is told why not.
func TestStrict(t *testing.T) {
	object := func(properties, required string) string {
		return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
	}
	var many []string
	for i := range 1001 {
		many = append(many, fmt.Sprint(i))
	}
	var long []string
	for i := range 251 {
		long = append(long, fmt.Sprintf(`"%s%d"`, strings.Repeat("v", 60), i))
	}
	deep, wide, names := `{"type":"string"}`, []string{}, []string{}
	for range 10 {
		deep = object(`"a":`+deep, `"a"`)
	}
	for i := range 5001 {
		wide = append(wide, fmt.Sprintf(`"p%d"`, i))
		names = append(names, fmt.Sprintf(`"p%d":{"type":"null"}`, i))
	}
	for name, tt := range map[string]struct{ schema, want, why string }{
		"nothing":  {object(``, ``), object(``, ``), ""},
		"complete": {object(`"b":{"type":"integer","minimum":1,"maximum":9007199254740993},"a":{"type":["string","null"],"pattern":"^a"}`, `"b","a"`), object(`"b":{"type":"integer","minimum":1,"maximum":9007199254740993},"a":{"type":["string","null"],"pattern":"^a"}`, `"b","a"`), ""},
		"what is said in words": {object(`"a":{"type":"string","description":"A \"word\"","maxLength":5,"format":"uri","pattern":"^(?:x)"},"b":{"type":"string","format":"date"}`, `"a","b"`),
			object(`"a":{"type":"string","description":"A \"word\"\n\nIt also has to match this JSON Schema: {\"maxLength\":5,\"format\":\"uri\",\"pattern\":\"^(?:x)\"}"},"b":{"type":"string","format":"date"}`, `"a","b"`), ""},
		"without a description": {object(`"a":{"type":"boolean","default":false}`, `"a"`), object(`"a":{"type":"boolean","description":"It also has to match this JSON Schema: {\"default\":false}"}`, `"a"`), ""},
		"oneOf":                 {object(`"a":{"oneOf":[{"type":"string"},{"const":1}]}`, `"a"`), object(`"a":{"anyOf":[{"type":"string"},{"const":1}]}`, `"a"`), ""},
		"lists":                 {object(`"a":{"type":"array","items":`+object(`"b":{"enum":["x","y"]}`, `"b"`)+`,"minItems":1}`, `"a"`), object(`"a":{"type":"array","items":`+object(`"b":{"enum":["x","y"]}`, `"b"`)+`,"minItems":1}`, `"a"`), ""},

		"an optional property":      {object(`"a":{"type":"string"},"b":{"type":"string"}`, `"b"`), "", "/: a is optional"},
		"an open object":            {`{"type":"object","properties":{}}`, "", "/: it allows other properties"},
		"an open object within":     {object(`"a":{"type":["object","null"]}`, `"a"`), "", "/a/: it allows other properties"},
		"other properties":          {`{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`, "", "/: additionalProperties cannot be written"},
		"anything":                  {object(`"a":{}`, `"a"`), "", "/a/: it allows anything"},
		"a list of anything":        {object(`"a":{"type":"array"}`, `"a"`), "", "/a/items/: it allows anything"},
		"a branch of anything":      {object(`"a":{"anyOf":[{"type":"string"},{}]}`, `"a"`), "", "/a/anyOf/1/: it allows anything"},
		"allOf":                     {object(`"a":{"type":"string","allOf":[{"minLength":1}]}`, `"a"`), "", "/a/: allOf cannot be written"},
		"not":                       {object(`"a":{"type":"string","not":{"const":"x"}}`, `"a"`), "", "/a/: not cannot be written"},
		"names by pattern":          {`{"type":"object","properties":{},"patternProperties":{"^x":{}},"additionalProperties":false}`, "", "/: patternProperties cannot be written"},
		"too deep":                  {deep, "", "it is more than 10 levels deep"},
		"too many values":           {object(`"a":{"enum":[`+strings.Join(many, ",")+`]}`, `"a"`), "", "its enums have more than 1000 values"},
		"too long an enum":          {object(`"a":{"enum":[`+strings.Join(long, ",")+`]}`, `"a"`), "", "its enum has more than 15000 characters"},
		"too many properties":       {object(strings.Join(names, ","), strings.Join(wide, ",")), "", "it has more than 5000 properties"},
		"too long names":            {object(`"`+strings.Repeat("n", 120_001)+`":{"type":"null"}`, `"`+strings.Repeat("n", 120_001)+`"`), "", "its names have more than 120000 characters"},
		"a reference within itself": {`{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"],"additionalProperties":false}`, "", "it allows other properties"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, how := range []way{ways[0], ways[3]} {
				a := newAPI()
				defer a.Close()
				var log bytes.Buffer
				model, err := how.model(a.client(), openai.Options{Model: "m", Strict: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				require.NoError(t, err)
				tool := &chattools.Tool{Name: "t", Schema: json.RawMessage(tt.schema)}
				for range 2 {
					_, err = ask(t.Context(), model, chattools.Request{Messages: hello, Tools: []*chattools.Tool{tool}})
					require.NoError(t, err)
				}
				require.Empty(t, a.refused)
				sent := a.sentTools(t, 1)[0]
				require.Equal(t, tt.why == "", *sent.Strict)
				require.Equal(t, tt.schema, string(tool.Schema))
				if tt.why == "" {
					require.Equal(t, tt.want, string(sent.Parameters))
					require.NotContains(t, log.String(), "not strict")
				} else {
					require.Equal(t, 1, strings.Count(log.String(), "the tool is not strict"))
					require.Contains(t, log.String(), tt.why)
				}
				_, err = a.ask(t, how, chattools.Request{Messages: hello, Tools: []*chattools.Tool{tool}})
				require.NoError(t, err)
				require.False(t, *a.sentTools(t, 2)[0].Strict)
			}
		})
	}
}
