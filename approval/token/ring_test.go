package token_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
)

func TestNewRingRefuses(t *testing.T) {
	good := testKey("k1", 0)
	for _, test := range []struct {
		name, environment string
		keys              []token.Key
	}{
		{"no environment", "", []token.Key{good}},
		{"environment with a line break", "prod\n", []token.Key{good}},
		{"environment too long", strings.Repeat("e", 257), []token.Key{good}},
		{"environment not UTF-8", "\xff", []token.Key{good}},
		{"zero key", "production", []token.Key{{}}},
		{"no secret", "production", []token.Key{{ID: "k1"}}},
		{"31 bytes", "production", []token.Key{{ID: "k1", Secret: counting(0, 31)}}},
		{"old key of 31 bytes", "production", []token.Key{good, {ID: "k0", Secret: counting(0, 31)}}},
		{"no id", "production", []token.Key{testKey("", 0)}},
		{"id with a dot", "production", []token.Key{testKey("a.b", 0)}},
		{"id with a path", "production", []token.Key{testKey("../k", 0)}},
		{"id with a letter outside ASCII", "production", []token.Key{testKey("ké", 0)}},
		{"id of 33 characters", "production", []token.Key{testKey(strings.Repeat("k", 33), 0)}},
		{"old id bad", "production", []token.Key{good, testKey("k 0", 1)}},
		{"id twice", "production", []token.Key{good, testKey("k1", 1)}},
		{"old id twice", "production", []token.Key{good, testKey("k0", 1), testKey("k0", 2)}},
		{"secret twice", "production", []token.Key{good, testKey("k0", 0)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ring, err := token.NewRing(test.environment, test.keys[0], test.keys[1:]...)
			require.ErrorIs(t, err, token.ErrKey)
			require.Nil(t, ring)
			require.Regexp(t, `^token: bad key: `, err.Error())
		})
	}
}

func TestNewRingCopiesSecrets(t *testing.T) {
	key := testKey("k1", 0)
	ring := newRing(t, "production", key)
	before := sign(t, ring, binding)
	for i := range key.Secret {
		key.Secret[i] = 0
	}
	b := binding
	b.Scope = "derived after the change"
	require.NoError(t, ring.Verify(before, binding, now))
	require.NoError(t, testRing(t).Verify(sign(t, ring, b), b, now))
	require.Equal(t, "production", ring.Environment())
}

func TestNewKey(t *testing.T) {
	a, err := token.NewKey("k1")
	require.NoError(t, err)
	b, err := token.NewKey("k2")
	require.NoError(t, err)
	require.Len(t, a.Secret, 32)
	require.Equal(t, "k1", a.ID)
	require.False(t, bytes.Equal(a.Secret, b.Secret))
	newRing(t, "production", a, b)

	for _, id := range []string{"", "a b", strings.Repeat("k", 33)} {
		_, err = token.NewKey(id)
		require.ErrorIs(t, err, token.ErrKey)
	}
}

func TestRotation(t *testing.T) {
	oldKey, newKey := testKey("k1", 0), testKey("k2", 100)
	before := newRing(t, "production", oldKey)
	during := newRing(t, "production", newKey, oldKey)
	after := newRing(t, "production", newKey)
	old := sign(t, before, binding)
	fresh := sign(t, during, binding)

	require.NoError(t, during.Verify(old, binding, now), "the old key still verifies")
	require.Regexp(t, `^apv1\.k2\.`, fresh.Reveal(), "the new key signs")
	require.NoError(t, during.Verify(fresh, binding, now))
	require.NoError(t, after.Verify(fresh, binding, now))
	require.Equal(t, &token.Error{Reason: token.ReasonBadSignature, KeyID: "k1"}, after.Verify(old, binding, now), "a removed key")
	require.Equal(t, token.ReasonBadSignature, reason(t, before.Verify(fresh, binding, now)), "a key not there yet")

	reused := newRing(t, "production", testKey("k1", 100))
	require.Equal(t, token.ReasonBadSignature, reason(t, reused.Verify(old, binding, now)), "an id with another secret")
	renamed := strings.Replace(old.Reveal(), ".k1.", ".k2.", 1)
	require.Equal(t, token.ReasonBadSignature, verify(t, during, renamed, binding, now), "the id of another known key")
}

func TestEnvironmentsAndScopesAreApart(t *testing.T) {
	key := testKey("k1", 0)
	production := newRing(t, "production", key)
	tok := sign(t, production, binding)
	require.Equal(t, token.ReasonBadSignature, reason(t, newRing(t, "staging", key).Verify(tok, binding, now)))

	// The same characters on either side of the border between the two names.
	want := binding
	want.Scope = "nacme"
	require.Equal(t, token.ReasonBadSignature, reason(t, newRing(t, "productio", key).Verify(tok, want, now)))

	for _, scope := range []string{"", "Acme", "acme ", "acm", "acme\x00", strings.Repeat("a", 257)} {
		want.Scope = scope
		require.Equal(t, token.ReasonBadSignature, reason(t, production.Verify(tok, want, now)), "%q", scope)
	}
}

func TestZeroRing(t *testing.T) {
	tok := sign(t, testRing(t), binding)
	var none *token.Ring
	limited, err := none.WithMaxLife(time.Hour)
	require.NoError(t, err)
	for _, ring := range []*token.Ring{none, new(token.Ring), limited} {
		require.Empty(t, ring.Environment())
		require.Zero(t, ring.MaxLife())
		_, err := ring.Sign(binding)
		require.ErrorIs(t, err, token.ErrRing)
		_, err = ring.Seal(token.PurposeGrant, "acme", []byte("row"))
		require.ErrorIs(t, err, token.ErrRing)
		require.ErrorIs(t, ring.CheckSeal(token.PurposeGrant, "acme", []byte("row"), "k1."+strings.Repeat("A", 43)), token.ErrSeal)
		require.Equal(t, token.ReasonBadSignature, reason(t, ring.Verify(tok, binding, now)))
		require.Equal(t, token.ReasonMalformed, reason(t, ring.Verify(token.Token{}, token.Binding{}, time.Time{})))
	}
	require.Equal(t, token.ReasonMalformed, reason(t, testRing(t).Verify(token.Token{}, binding, now)))
	require.True(t, token.Token{}.IsZero())
	require.False(t, tok.IsZero())
	require.Empty(t, token.Token{}.Reveal())
}

func TestSignRefuses(t *testing.T) {
	ring := testRing(t)
	const long = 257
	for _, test := range []struct {
		name string
		edit func(*token.Binding)
	}{
		{"zero", func(b *token.Binding) { *b = token.Binding{} }},
		{"no scope", func(b *token.Binding) { b.Scope = "" }},
		{"scope too long", func(b *token.Binding) { b.Scope = strings.Repeat("s", long) }},
		{"no tool", func(b *token.Binding) { b.Tool = "" }},
		{"tool too long", func(b *token.Binding) { b.Tool = strings.Repeat("t", long) }},
		{"tool with a line break", func(b *token.Binding) { b.Tool = "a\nb" }},
		{"tool not UTF-8", func(b *token.Binding) { b.Tool = "a\xff" }},
		{"no user", func(b *token.Binding) { b.User = "" }},
		{"user with DEL", func(b *token.Binding) { b.User = "a\x7f" }},
		{"no proposal", func(b *token.Binding) { b.Proposal = [16]byte{} }},
		{"no parameters", func(b *token.Binding) { b.Params = [32]byte{} }},
		{"no times", func(b *token.Binding) { b.Issued, b.Expires = time.Time{}, time.Time{} }},
		{"issued at 1970", func(b *token.Binding) { b.Issued, b.Expires = time.Unix(0, 0), time.Unix(1, 0) }},
		{"no expiry", func(b *token.Binding) { b.Expires = time.Time{} }},
		{"no life", func(b *token.Binding) { b.Expires = b.Issued }},
		{"life under a second", func(b *token.Binding) { b.Expires = b.Issued.Add(999 * time.Millisecond) }},
		{"expires before issued", func(b *token.Binding) { b.Expires = b.Issued.Add(-time.Second) }},
		{"life over the maximum", func(b *token.Binding) { b.Expires = b.Issued.Add(24*time.Hour + time.Second) }},
		{"expires at the end of time", func(b *token.Binding) { b.Expires = time.Unix(math.MaxInt64, 0) }},
		{"times wrapped around", func(b *token.Binding) { b.Issued, b.Expires = time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := binding
			test.edit(&b)
			tok, err := ring.Sign(b)
			require.ErrorIs(t, err, token.ErrField)
			require.True(t, tok.IsZero())
			require.Regexp(t, `^token: bad field: `, err.Error())
		})
	}
}

func TestLongestFieldsFit(t *testing.T) {
	ring := newRing(t, "production", testKey(strings.Repeat("k", 32), 0))
	b := binding
	b.Scope, b.Tool, b.User = strings.Repeat("s", 256), strings.Repeat("t", 256), strings.Repeat("ü", 128)
	tok := sign(t, ring, b)
	require.LessOrEqual(t, len(tok.Reveal()), 1024)
	require.Empty(t, verify(t, ring, tok.Reveal(), b, now))
}

func TestMaxLife(t *testing.T) {
	ring := testRing(t)
	require.Equal(t, 24*time.Hour, ring.MaxLife())
	b := binding
	b.Expires = issued.Add(24 * time.Hour)
	day := sign(t, ring, b)
	require.NoError(t, ring.Verify(day, b, now))

	minute, err := ring.WithMaxLife(time.Minute + 999*time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, time.Minute, minute.MaxLife())
	require.Equal(t, 24*time.Hour, ring.MaxLife(), "the first ring is as it was")
	require.Equal(t, token.ReasonUnparseable, reason(t, minute.Verify(day, b, now)))
	b.Expires = issued.Add(61 * time.Second)
	_, err = minute.Sign(b)
	require.ErrorIs(t, err, token.ErrField)
	b.Expires = issued.Add(60 * time.Second)
	require.NoError(t, ring.Verify(sign(t, minute, b), b, now))

	for _, limit := range []time.Duration{0, -1, time.Second - 1, math.MinInt64} {
		_, err := ring.WithMaxLife(limit)
		require.ErrorIs(t, err, token.ErrField)
	}
	_, err = ring.WithMaxLife(math.MaxInt64)
	require.NoError(t, err)
}

func TestValidity(t *testing.T) {
	ring := testRing(t)
	tok := sign(t, ring, binding)
	for _, test := range []struct {
		name string
		now  time.Time
		want token.Reason
	}{
		{"issued", issued, ""},
		{"clock five seconds behind", issued.Add(-5 * time.Second), ""},
		{"clock six seconds behind", issued.Add(-6 * time.Second), token.ReasonExpired},
		{"last second", expires.Add(-1), ""},
		{"at expiry", expires, token.ReasonExpired},
		{"after expiry", expires.Add(time.Hour), token.ReasonExpired},
		{"zero time", time.Time{}, token.ReasonExpired},
		{"1970", time.Unix(0, 0), token.ReasonExpired},
		{"end of int64", time.Unix(math.MaxInt64, 0), token.ReasonExpired},
		{"where time.Time wraps", time.Unix(9223371974719179008, 0), token.ReasonExpired},
		{"start of int64", time.Unix(math.MinInt64, 0), token.ReasonExpired},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, reason(t, ring.Verify(tok, binding, test.now)))
		})
	}

	b := binding
	b.Issued, b.Expires = issued.Add(900*time.Millisecond), expires.Add(100*time.Millisecond)
	require.Equal(t, tok.Reveal(), sign(t, ring, b).Reveal(), "fractions of a second are dropped")
}

func TestParse(t *testing.T) {
	for _, text := range []string{"", strings.Repeat("a", 1025), strings.Repeat(".", 1<<20)} {
		tok, err := token.Parse(text)
		require.Equal(t, token.ReasonMalformed, reason(t, err))
		require.True(t, tok.IsZero())
	}
	tok, err := token.Parse(" text ")
	require.NoError(t, err)
	require.Equal(t, " text ", tok.Reveal())
}

func TestReasonText(t *testing.T) {
	require.Len(t, token.Reasons(), 7)
	for _, want := range token.Reasons() {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		require.Equal(t, `"`+string(want)+`"`, string(text))
		var got token.Reason
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "ok", "Expired", "expired ", "used"} {
		got := token.ReasonExpired
		require.Error(t, got.UnmarshalText([]byte(text)))
		require.Equal(t, token.ReasonExpired, got)
	}
	require.Equal(t, "token: expired", (&token.Error{Reason: token.ReasonExpired, KeyID: "k1"}).Error())
}

func TestErrorNamesOnlyTheKeyID(t *testing.T) {
	ring := testRing(t)
	tok := sign(t, ring, binding)
	err := fmt.Errorf("wrapped: %w", ring.Verify(tok, binding, expires))
	var refused *token.Error
	require.True(t, errors.As(err, &refused))
	require.Equal(t, token.Error{Reason: token.ReasonExpired, KeyID: "k1"}, *refused)
	require.Equal(t, "wrapped: token: expired", err.Error())

	malformed, _ := token.Parse("apv1.k1.nothing")
	require.Equal(t, &token.Error{Reason: token.ReasonMalformed}, ring.Verify(malformed, binding, now))
}

func TestConcurrentUse(t *testing.T) {
	ring := newRing(t, "production", testKey("k2", 100), testKey("k1", 0))
	old := sign(t, testRing(t), binding)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 200 {
				b := binding
				b.Scope = fmt.Sprintf("scope-%d", (worker+i)%16)
				tok, err := ring.Sign(b)
				if err != nil || ring.Verify(tok, b, now) != nil || ring.Verify(old, binding, now) != nil {
					t.Error("a good token was refused")
				}
				if ring.Verify(old, b, now) == nil {
					t.Error("verified in another scope")
				}
				seal, err := ring.Seal(token.PurposeGrant, b.Scope, []byte(b.Scope))
				if err != nil || ring.CheckSeal(token.PurposeGrant, b.Scope, []byte(b.Scope), seal) != nil {
					t.Error("a good seal was refused")
				}
			}
		})
	}
	group.Wait()
}
