package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
)

// secretText is easy to find again in every spelling.
const secretText = "swordfish-swordfish-swordfish-swordfish"

// leaks lists every way in which fmt, JSON and friends would spell a secret.
func leaks(secrets ...string) []string {
	var spellings []string
	for _, s := range secrets {
		raw := []byte(s)
		spellings = append(spellings, s,
			hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)),
			base64.StdEncoding.EncodeToString(raw)[:12],
			strings.Trim(fmt.Sprint(raw[:6]), "[]"),
			strings.Trim(fmt.Sprintf("% x", raw[:6]), "[]"),
			strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", raw[:6]), "[]byte{"), "}"))
	}
	return spellings
}

// nested holds tokens and rings where fmt calls no method. A Key does not
// belong there, as its comment says.
type nested struct {
	tok       token.Token
	inner     struct{ tok token.Token }
	list      []token.Token
	ring      *token.Ring
	ringValue token.Ring
}

type exported struct {
	Token token.Token
	Key   token.Key
	Keys  []token.Key
	Ring  *token.Ring
	Map   map[string]token.Token
}

func TestNothingPrintsASecret(t *testing.T) {
	key := token.Key{ID: "k1", Secret: []byte(secretText)}
	ring := newRing(t, "production", key)
	tok := sign(t, ring, binding)
	_, err := ring.Seal(token.PurposeGrant, "acme", row)
	require.NoError(t, err)
	mac := tok.Reveal()[len(tok.Reveal())-43:]
	payload := strings.Split(tok.Reveal(), ".")[2]
	forbidden := leaks(secretText, tok.Reveal(), mac, payload)

	_, refused := token.NewRing("production", key, token.Key{ID: secretText, Secret: key.Secret})
	_, same := token.NewRing("production", key, token.Key{ID: "k2", Secret: key.Secret})
	rejected := ring.Verify(tok, binding, expires)

	in := nested{tok: tok, list: []token.Token{tok}, ring: ring, ringValue: *ring}
	in.inner.tok = tok
	out := exported{tok, key, []token.Key{key}, ring, map[string]token.Token{"t": tok}}
	values := map[string]any{
		"token": tok, "token pointer": &tok, "key": key, "key pointer": &key, "ring": ring, "ring value": *ring,
		"nested": in, "nested pointer": &in, "exported": out, "exported pointer": &out,
		"slice": []any{tok, key, ring}, "bad id": refused, "same secret": same, "rejected": rejected,
		"wrapped": fmt.Errorf("refused %v with %v of %v: %w", tok, key, ring, rejected), "joined": errors.Join(refused, same, rejected),
	}
	// %p of what is no pointer, and %w outside Errorf, turn every method off.
	// Tokens and rings withstand that; a Key is plain bytes and cannot.
	holdsKey := map[string]bool{"key": true, "key pointer": true, "exported": true, "exported pointer": true, "slice": true}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			clean := func(how, text string) {
				t.Helper()
				for _, leak := range forbidden {
					if strings.Contains(text, leak) {
						t.Fatalf("%s shows %q", how, leak)
					}
				}
			}
			verbs := []string{
				"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%#x", "%d", "%t", "%c",
				"%U", "%b", "%o", "%e", "%T", "%10s", "%-40v",
			}
			if !holdsKey[name] {
				verbs = append(verbs, "%p", "%w")
			}
			for _, verb := range verbs {
				clean(verb, fmt.Sprintf(verb, value))
			}
			clean("Sprint", fmt.Sprint(value))
			if text, err := json.Marshal(value); err == nil {
				clean("JSON", string(text))
			}
			if text, err := xml.Marshal(value); err == nil {
				clean("XML", string(text))
			}
			var log bytes.Buffer
			for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
				logger := slog.New(handler)
				logger.Info(fmt.Sprint(value), "value", value, slog.Group("group", "value", value))
				logger.With("with", value).Error("again", "error", value)
			}
			clean("slog", log.String())
		})
	}
}

func TestRedactedWords(t *testing.T) {
	key := testKey("k1", 0)
	ring := testRing(t)
	tok := sign(t, ring, binding)
	for _, test := range []struct {
		word  string
		value interface {
			fmt.Stringer
			slog.LogValuer
			MarshalText() ([]byte, error)
		}
	}{
		{"token(redacted)", tok},
		{"token(redacted)", token.Token{}},
		{"key(redacted)", key},
		{"key(redacted)", token.Key{}},
		{"ring(redacted)", ring},
		{"ring(redacted)", (*token.Ring)(nil)},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			require.Equal(t, test.word, fmt.Sprintf(verb, test.value))
		}
		require.Equal(t, test.word, test.value.String())
		require.Equal(t, test.word, test.value.LogValue().String())
		text, err := test.value.MarshalText()
		require.NoError(t, err)
		require.Equal(t, test.word, string(text))
	}
	text, err := json.Marshal(exported{Token: tok, Key: key, Ring: ring})
	require.NoError(t, err)
	require.JSONEq(t, `{"Token":"token(redacted)","Key":"key(redacted)","Keys":null,"Ring":"ring(redacted)","Map":null}`, string(text))
}
