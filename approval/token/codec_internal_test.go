package token

import (
	"compress/gzip"
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

type vectors struct {
	Keys  map[string]string
	Cases []struct {
		Name, Token, Tool, User, Params string
		ParamsHex                       string `json:"params_hex"`
		Now                             int64
		Want                            string
	}
}

// judge is Ring.Verify with keys that are used as they are, a longest life of
// 300 seconds, and no opinion on which proposal is meant: the vectors leave
// that out.
func judge(keys map[string]*macKey, text string, want Binding, now int64) Reason {
	s := new(scratch)
	opened, ok := open(text, s)
	if !ok {
		return ReasonMalformed
	}
	return opened.check(keys[opened.keyID], 300, &want, now)
}

func vectorKeys(t *testing.T, v vectors) map[string]*macKey {
	keys := make(map[string]*macKey)
	for id, text := range v.Keys {
		keys[id] = newMACKey(unhex(t, text))
	}
	return keys
}

var vectorProposal = [16]byte{0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f}

func TestVectors(t *testing.T) {
	var v vectors
	readJSON(t, filepath.Join("testdata", "approval", "tokens.json.gz"), &v)
	require.Len(t, v.Cases, 114)
	keys := vectorKeys(t, v)
	good := claims{
		issued: 1767225600, expires: 1767225900, proposal: vectorProposal,
		params: [32]byte(unhex(t, "5e314535b4511b9a5f180275987df400be7f911e56f0e67db3ed6e10b2714e74")),
		tool:   []byte("payments.transfer"), user: []byte("operator-4711"),
	}
	require.Equal(t, v.Cases[0].Token, string(appendToken(nil, "k1", keys["k1"], appendPayload(nil, &good))))
	seen := make(map[Reason]int)
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			want := Binding{Proposal: vectorProposal, Tool: c.Tool, User: c.User}
			document := []byte(c.Params)
			if c.ParamsHex != "" {
				document = unhex(t, c.ParamsHex)
			}
			// No canonical form leaves the hash zero, which equals nothing.
			if object, err := canon.Parse(document, canon.Options{}); err == nil {
				want.Params = object.Hash()
			}
			reason := judge(keys, c.Token, want, c.Now)
			seen[reason]++
			if c.Want == "ok" {
				require.Empty(t, reason)
				want.Proposal[15]++
				require.Equal(t, ReasonParamsChanged, judge(keys, c.Token, want, c.Now), "another proposal")
				want.Proposal = [16]byte{}
				require.Equal(t, ReasonParamsChanged, judge(keys, c.Token, want, c.Now), "no proposal")
				return
			}
			require.Equal(t, Reason(c.Want), reason)
		})
	}
	for _, reason := range append(Reasons(), "") {
		require.NotZero(t, seen[reason], "no vector for %q", reason)
	}
}

// Wycheproof's 256-bit tags go through the MAC that tokens use; its 128-bit
// tags are correct halves, which must never do.
func TestWycheproof(t *testing.T) {
	var file struct {
		NumberOfTests int
		TestGroups    []struct {
			TagSize int
			Tests   []struct {
				TcID                           int
				Comment, Key, Msg, Tag, Result string
			}
		}
	}
	readJSON(t, filepath.Join("testdata", "wycheproof", "hmac_sha256_test.json.gz"), &file)
	ran := 0
	for _, group := range file.TestGroups {
		for _, test := range group.Tests {
			ran++
			key, message, tag := newMACKey(unhex(t, test.Key)), unhex(t, test.Msg), unhex(t, test.Tag)
			sum := key.appendSum(nil, message)
			if group.TagSize == 256 {
				require.Equal(t, test.Result == "valid", hmac.Equal(tag, sum), "case %d: %s", test.TcID, test.Comment)
				require.Equal(t, test.Result == "valid", key.verify(message, tag), "case %d: %s", test.TcID, test.Comment)
				continue
			}
			require.Equal(t, 128, group.TagSize)
			require.Equal(t, test.Result == "valid", hmac.Equal(tag, sum[:16]), "case %d: %s", test.TcID, test.Comment)
			require.False(t, key.verify(message, tag), "case %d: a shortened tag", test.TcID)
			cut := "apv1.k1.AQ." + base64.RawURLEncoding.EncodeToString(tag)
			require.Equal(t, ReasonMalformed, judge(map[string]*macKey{"k1": key}, cut, Binding{}, 0))
		}
	}
	require.Equal(t, 174, ran)
	require.Equal(t, file.NumberOfTests, ran)
}

// What only a holder of the key can write is refused too, whatever the key
// holder's software did wrong.
func TestSignedNonsenseIsUnparseable(t *testing.T) {
	key := newMACKey([]byte(strings.Repeat("k", 32)))
	keys := map[string]*macKey{"k1": key}
	good := claims{issued: 1000, expires: 1300, proposal: vectorProposal, params: [32]byte{1}, tool: []byte("tool"), user: []byte("user")}
	want := Binding{Proposal: good.proposal, Params: good.params, Tool: "tool", User: "user"}
	payload := appendPayload(nil, &good)
	signed := func(payload []byte) string { return string(appendToken(nil, "k1", key, payload)) }
	require.Empty(t, judge(keys, signed(payload), want, 1000))

	for n := range payload {
		require.Equal(t, ReasonUnparseable, judge(keys, signed(payload[:n]), want, 1000), "first %d bytes", n)
	}
	for extra := range 256 {
		longer := append(append([]byte(nil), payload...), byte(extra))
		require.Equal(t, ReasonUnparseable, judge(keys, signed(longer), want, 1000), "byte %02x behind", extra)
	}
	for v := range 256 {
		other := append([]byte{byte(v)}, payload[1:]...)
		if v != version {
			require.Equal(t, ReasonUnparseable, judge(keys, signed(other), want, 1000), "version %d", v)
		}
	}

	const maxInt, minInt = 1<<63 - 1, -1 << 63
	for name, edit := range map[string]func(*claims){
		"issued zero":                func(c *claims) { c.issued, c.expires = 0, 1 },
		"issued negative":            func(c *claims) { c.issued, c.expires = -1, 1 },
		"no life":                    func(c *claims) { c.expires = c.issued },
		"expires before issued":      func(c *claims) { c.expires = c.issued - 1 },
		"life of 301 s":              func(c *claims) { c.expires = c.issued + 301 },
		"expires at the end of time": func(c *claims) { c.expires = maxInt },
		"all of time":                func(c *claims) { c.issued, c.expires = minInt, maxInt },
		"difference overflows":       func(c *claims) { c.issued, c.expires = maxInt, minInt },
		"expires negative":           func(c *claims) { c.expires = minInt },
		"tool empty":                 func(c *claims) { c.tool = nil },
		"tool too long":              func(c *claims) { c.tool = []byte(strings.Repeat("t", 257)) },
		"tool with NUL":              func(c *claims) { c.tool = []byte("to\x00ol") },
		"tool with DEL":              func(c *claims) { c.tool = []byte("to\x7fol") },
		"user empty":                 func(c *claims) { c.user = nil },
		"user too long":              func(c *claims) { c.user = []byte(strings.Repeat("u", 257)) },
		"user not UTF-8":             func(c *claims) { c.user = []byte{0xff} },
		"user with a line break":     func(c *claims) { c.user = []byte("us\ner") },
	} {
		t.Run(name, func(t *testing.T) {
			c := good
			edit(&c)
			named := want
			named.Tool, named.User = string(c.tool), string(c.user)
			for _, now := range []int64{minInt, -1, 0, c.issued, 1000, c.expires, maxInt} {
				require.Equal(t, ReasonUnparseable, judge(keys, signed(appendPayload(nil, &c)), named, now))
			}
		})
	}
}

// Times at the ends of int64 compare as integers: no wrap, no early end.
func TestTimesAtTheEdges(t *testing.T) {
	const maxInt, minInt = 1<<63 - 1, -1 << 63
	key := newMACKey([]byte(strings.Repeat("k", 32)))
	keys := map[string]*macKey{"k1": key}
	for _, life := range [][2]int64{{1, 2}, {1, 301}, {maxInt - 300, maxInt}, {maxInt - 1, maxInt}, {9223371974719179007, 9223371974719179008}} {
		c := claims{issued: life[0], expires: life[1], proposal: vectorProposal, params: [32]byte{1}, tool: []byte("tool"), user: []byte("user")}
		want := Binding{Proposal: c.proposal, Params: c.params, Tool: "tool", User: "user", Expires: time.Unix(c.expires, 0)}
		text := string(appendToken(nil, "k1", key, appendPayload(nil, &c)))
		for now, valid := range map[int64]bool{
			minInt: false, 0 - 5: false, c.issued - 6: false, c.issued - 5: true, c.issued: true, c.expires - 1: true, c.expires: false,
		} {
			if valid {
				require.Empty(t, judge(keys, text, want, now), "%v at %d", life, now)
			} else {
				require.Equal(t, ReasonExpired, judge(keys, text, want, now), "%v at %d", life, now)
			}
		}
		if c.expires != maxInt {
			require.Equal(t, ReasonExpired, judge(keys, text, want, maxInt))
		}
	}
}

// The cache holds what it must and no more, and an evicted key is derived again.
func TestDerivedKeysAreBounded(t *testing.T) {
	ring, err := NewRing("production", Key{ID: "k1", Secret: []byte(strings.Repeat("k", 32))})
	require.NoError(t, err)
	seal, err := ring.Seal(PurposeGrant, "acme", []byte("row"))
	require.NoError(t, err)
	for i := range 2 * maxDerived {
		scope := "hostile-" + hex.EncodeToString([]byte{byte(i >> 8), byte(i)})
		require.ErrorIs(t, ring.CheckSeal(PurposeGrant, scope, []byte("row"), seal), ErrSeal)
		require.LessOrEqual(t, len(ring.state().derived.keys), maxDerived)
	}
	require.Len(t, ring.state().derived.keys, maxDerived)
	require.NoError(t, ring.CheckSeal(PurposeGrant, "acme", []byte("row"), seal))

	fresh, err := NewRing("production", Key{ID: "k1", Secret: []byte(strings.Repeat("k", 32))})
	require.NoError(t, err)
	for _, scope := range []string{"", "a\nb", "\xff", strings.Repeat("s", 257)} {
		require.ErrorIs(t, fresh.CheckSeal(PurposeGrant, scope, []byte("row"), seal), ErrSeal)
	}
	require.ErrorIs(t, fresh.CheckSeal(PurposeGrant, "acme", []byte("row"), "k2"+seal[2:]), ErrSeal)
	require.Empty(t, fresh.state().derived.keys, "neither bad scopes nor unknown key ids take a place")
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	require.NoError(t, err)
	return b
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	data, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}
