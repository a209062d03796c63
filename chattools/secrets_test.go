package chattools_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
)

// ear collects everything that a model could read, and how Go prints it.
type ear struct{ b strings.Builder }

func (e *ear) hear(t *testing.T, v any) {
	t.Helper()
	e.b.WriteString(text(t, v))
	e.print(v)
}

func (e *ear) print(v any) {
	fmt.Fprintf(&e.b, "\n%v\n%+v\n%#v\n%s\n%q\n", v, v, v, v, v)
}

func spellings(secret []byte) []string {
	return []string{
		string(secret), hex.EncodeToString(secret), strings.ToUpper(hex.EncodeToString(secret)),
		base64.StdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret),
		strings.Trim(fmt.Sprint(secret), "[]"), strings.ReplaceAll(fmt.Sprintf("% x", secret), " ", ", 0x"),
	}
}

// Secrets lie wherever a host has some: in the key ring, in errors and panics of every function and of the
// store, in a stranger's data, and in the tokens that people hold. No call and no print brings one out.
func TestNothingThatAModelReadsHoldsASecret(t *testing.T) {
	const private, stranger = "private-", "bobs-secret-"
	secret := func(where string) error { return errors.New(private + where) }
	var store *ledgertest.Faulty
	s := openShop(t, func(c *registry.Config) {
		store = ledgertest.NewFaulty(c.Ledger)
		c.Ledger = store
	})
	session, e := sessionOf(t, "assistant", ann), new(ear)
	var tokens []string

	call := func(name, arguments string) chattools.Answer {
		c := chattools.Call{ID: "call_1", Name: name, Arguments: []byte(arguments)}
		a := s.gate.Call(t.Context(), session, c)
		e.hear(t, a)
		e.print(c)
		return a
	}
	everything := func() {
		for _, arguments := range []string{
			`{"order":"a1"}`, `{"order":"b1"}`, `{"order":"b1","cents":5}`, `{"order":"a1","cents":5}`, `{}`, `{"order":1}`, `null`, `{`,
		} {
			for _, name := range []string{"find_order", "opening_hours", "refund_order", "add_note", "close_shop", "nothing"} {
				a := call(name, arguments)
				if a.Proposal == "" {
					continue
				}
				o, err := s.desk.Open(t.Context(), scope, a.Proposal, olga)
				if err == nil && o.Refusal == nil {
					tokens = append(tokens, o.Token.Reveal())
				}
				call("proposal_status", `{"proposal":"`+a.Proposal+`"}`)
			}
		}
		tools, err := s.gate.Catalog(t.Context(), session)
		require.NoError(t, err)
		e.hear(t, tools)
		for _, tool := range tools {
			e.hear(t, *tool)
		}
	}
	find := func(f func(order string) error) {
		s.find = func(_ context.Context, p orderID) (any, error) {
			if p.Order == "b1" {
				return stranger + "order", nil
			}
			return "yours", f(p.Order)
		}
	}
	find(func(string) error { return nil })
	everything()
	find(func(string) error { return secret("run error") })
	everything()
	find(func(string) error { panic(secret("run panic")) })
	everything()
	find(func(string) error { return errors.Join(secret("beside"), registry.Public(errors.New("told"))) })
	everything()
	s.target = func(string) ([]authz.Path, error) { return nil, secret("target error") }
	everything()
	s.target = func(string) ([]authz.Path, error) { panic(secret("target panic")) }
	everything()
	s.target = nil
	s.version = func() (string, error) { return private + "version", nil }
	everything()
	s.version = func() (string, error) { return "", secret("version error") }
	everything()
	s.version = nil
	for _, method := range []string{"Append", "Propose", "Proposal"} {
		store.Inject(ledgertest.Fault{Method: method, Err: secret("store " + method)})
		everything()
		store.Heal()
	}

	var audited strings.Builder // operators do get to know
	records, err := s.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Limit: 10000})
	require.NoError(t, err)
	for _, r := range records {
		audited.WriteString(r.Error)
	}
	heard := e.b.String()
	for _, where := range []string{"run error", "run panic", "beside", "target error", "target panic", "version error"} {
		require.Contains(t, audited.String(), private+where)
	}
	require.Contains(t, heard, "yours")
	require.Contains(t, heard, "told")
	require.Contains(t, heard, "needs_approval")
	require.NotContains(t, heard, private)
	require.NotContains(t, heard, stranger)
	require.NotContains(t, heard, "apv1.")
	require.NotEmpty(t, tokens)
	for _, token := range tokens {
		require.True(t, strings.HasPrefix(token, "apv1."))
		for part := range strings.SplitSeq(token, ".") {
			require.False(t, len(part) > 10 && strings.Contains(heard, part), "a part of a token")
		}
	}
	for _, spelling := range spellings(ringSecret) {
		require.NotContains(t, heard, spelling)
	}
}
