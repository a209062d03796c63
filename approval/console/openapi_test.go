package console_test

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console"
)

// openapi is the document, compiled as far as the tests hold anything to it.
type openapi struct {
	doc     map[string]any
	schemas map[string]*jsonschema.Schema // by pointer
	mux     *http.ServeMux                // routes of the document, to find the one that a request is for
}

var loadDocument = sync.OnceValues(func() (*openapi, error) {
	f, err := os.Open("internal/api/openapi.json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return nil, err
	}
	o := &openapi{doc: doc.(map[string]any), schemas: map[string]*jsonschema.Schema{}, mux: http.NewServeMux()}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("urn:openapi", doc); err != nil {
		return nil, err
	}
	compile := func(pointer string) error {
		s, err := c.Compile("urn:openapi#" + pointer)
		o.schemas[pointer] = s
		return err
	}
	for name := range o.at("components", "schemas") {
		if err := compile("/components/schemas/" + name); err != nil {
			return nil, err
		}
	}
	for path, item := range o.at("paths") {
		for method, op := range item.(map[string]any) {
			o.mux.Handle(strings.ToUpper(method)+" /api/v1"+path, http.NotFoundHandler())
			for status, res := range op.(map[string]any)["responses"].(map[string]any) {
				content, _ := res.(map[string]any)["content"].(map[string]any)
				for media := range content {
					pointer := "/paths/" + escape(path) + "/" + method + "/responses/" + status + "/content/" + escape(media) + "/schema"
					if err := compile(pointer); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return o, nil
})

func escape(s string) string {
	s = strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(s)
}

// at walks down the document.
func (o *openapi) at(keys ...string) map[string]any {
	v := o.doc
	for _, k := range keys {
		v, _ = v[k].(map[string]any)
	}
	return v
}

// exercised notes which responses of the document the tests have seen.
var exercised sync.Map

// documented holds an answer to the document: its status and media type are listed and its body is valid.
func documented(t testing.TB, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	o, err := loadDocument()
	require.NoError(t, err)
	media, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	_, pattern := o.mux.Handler(r)
	if w.Code >= 400 {
		require.Equal(t, "application/problem+json", media)
		valid(t, o, "/components/schemas/Problem", w.Body.String())
		return
	}
	if pattern == "" {
		return // no route of the API
	}
	method, path, _ := strings.Cut(pattern, " /api/v1")
	method = strings.ToLower(method)
	responses := o.at("paths", path, method, "responses")
	status := http.StatusText(w.Code)
	for code := range responses {
		if code == itoa(w.Code) {
			status = code
		}
	}
	require.Contains(t, responses, status, "%s %s answered %d, which is not documented", method, path, w.Code)
	exercised.Store(method+" "+path+" "+status, true)
	content, _ := responses[status].(map[string]any)["content"].(map[string]any)
	if content == nil {
		require.Empty(t, w.Body.String())
		return
	}
	require.Contains(t, content, media, "%s %s", method, path)
	if media == "application/json" {
		valid(t, o, "/paths/"+escape(path)+"/"+method+"/responses/"+status+"/content/"+escape(media)+"/schema", w.Body.String())
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func valid(t testing.TB, o *openapi, pointer, text string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err, text)
	schema := o.schemas[pointer]
	require.NotNil(t, schema, pointer)
	require.NoError(t, schema.Validate(v), text)
}

// Every documented answer of every route is given, and everything that is given is documented: a route that
// the document lacks, or has too much, fails here.
func TestTheDocumentIsTrue(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 500)
	s.do("olga", "GET", "/openapi.json", nil, 200)
	s.do("olga", "GET", "/actions", nil, 200)
	s.do("olga", "POST", "/actions/find/invoke", `{"order":"a1"}`, 200)
	s.do("olga", "GET", "/proposals?state=proposed&text=a1", nil, 200)
	s.approve("olga", id)
	s.do("olga", "POST", "/proposals/"+s.propose("refund", "a1", 2)+"/dismiss", `{"reason":"no"}`, 204)
	s.do("olga", "POST", "/proposals/"+s.propose("refund", "a1", 3)+"/revise", `{"params":{"order":"a1","cents":4}}`, 201)
	s.do("olga", "GET", "/audit?proposal="+id, nil, 200)
	s.pass(2 * 60e9)
	s.do("olga", "GET", "/audit.csv", nil, 200)
	s.do("olga", "GET", "/audit.ndjson", nil, 200)
	s.do("olga", "GET", "/settings", nil, 200)
	s.do("olga", "POST", "/actions/directory_give_standing/invoke", `{"model":"assistant","tool":"label","hours":1,"uses":3,"below":"/","ask_only":false}`, 200)
	s.do("olga", "POST", "/actions/directory_set_grant/invoke", `{"model":"assistant","tool":"pay","effect":"deny"}`, 200)
	s.do("olga", "GET", "/grants", nil, 200)
	s.do("olga", "GET", "/models", nil, 200)
	s.do("olga", "GET", "/outcomes?since=2026-01-01T00:00:00Z", nil, 200)
	s.streamOnce("olga")

	o, err := loadDocument()
	require.NoError(t, err)
	for path, item := range o.at("paths") {
		for method, op := range item.(map[string]any) {
			for status := range op.(map[string]any)["responses"].(map[string]any) {
				if status == "default" {
					continue // problems are held to their schema wherever a test meets one
				}
				_, ok := exercised.Load(method + " " + path + " " + status)
				require.True(t, ok, "%s %s never answered %s", method, path, status)
			}
		}
	}
}

// streamOnce reads a stream up to the point where it is ready, and holds it to the document.
func (s *shop) streamOnce(as string) {
	s.t.Helper()
	server := httptest.NewServer(s.console)
	defer server.Close()
	c := s.listen(server.URL, as, "")
	defer c.close()
	require.Equal(s.t, "ready", c.next().name)
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", c.header.Get("Content-Type"))
	documented(s.t, request(s.t, as, "GET", "/changes", nil), w)
}

// A route is in the document exactly if the console has it.
func TestTheDocumentHasEveryRoute(t *testing.T) {
	s := open(t, nil)
	o, err := loadDocument()
	require.NoError(t, err)
	var listed []string
	for path, item := range o.at("paths") {
		for method := range item.(map[string]any) {
			listed = append(listed, strings.ToUpper(method)+" /api/v1"+path)
		}
	}
	slices.Sort(listed)
	have := console.Patterns(s.console)
	slices.Sort(have)
	require.Equal(t, have, listed)
}
