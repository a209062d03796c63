package operator_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/internal/operator"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
)

// desk is a shop with an operator, Sam, and a model that asks for things.
type desk struct {
	t     *testing.T
	world *store.World
	file  string
	stop  func()
}

func open(t *testing.T) *desk {
	t.Helper()
	w, err := store.New(t.Context(), store.InMemory())
	require.NoError(t, err)
	d := &desk{t: t, world: w, file: filepath.Join(t.TempDir(), "new", "operator.json")}
	d.stop, err = operator.Start(operator.Config{
		Desk: func() *approval.Desk { return w.Desk }, Scope: store.Scope, Person: authz.LoggedIn(store.Sam), File: d.file,
	})
	require.NoError(t, err)
	t.Cleanup(d.stop)
	return d
}

// ask proposes to pay an order with a card, and returns the proposal's id.
func (d *desk) ask() string {
	session, err := d.world.Session("isabella_lopez_6490", "test")
	require.NoError(d.t, err)
	a := d.world.Gate.Call(d.t.Context(), session, chattools.Call{
		Name: "modify_pending_order_payment", Arguments: []byte(`{"order_id":"#W4923227","payment_method_id":"credit_card_8897086"}`),
	})
	require.Equal(d.t, chattools.NeedsApproval, a.Status)
	return a.Proposal
}

func (d *desk) run(args ...string) (string, error) {
	var out strings.Builder
	err := operator.Run(d.t.Context(), d.file, &out, args...)
	return out.String(), err
}

func (d *desk) status(proposal string) string {
	session, err := d.world.Session("isabella_lopez_6490", "test")
	require.NoError(d.t, err)
	s, err := d.world.Desk.Status(d.t.Context(), session, proposal)
	require.NoError(d.t, err)
	return s.Status
}

// hash is that of the parameters of ask, by sha256sum of their canonical text.
const hash = "54a3e3db1266ee98"

func TestAnOperatorSeesAndApproves(t *testing.T) {
	d := open(t)
	out, err := d.run("pending")
	require.NoError(t, err)
	require.Equal(t, "0 waiting\n", out)

	id := d.ask()
	out, err = d.run("pending")
	require.NoError(t, err)
	require.Equal(t, id+"  Pay order \"#W4923227\" with \"credit_card_8897086\" instead.\n1 waiting\n", out)

	out, err = d.run("show", id)
	require.NoError(t, err)
	for _, want := range []string{"assistant for isabella_lopez_6490", `"payment_method_id": "credit_card_8897086"`, hash, "5m0s"} {
		require.Contains(t, out, want)
	}
	require.Zero(t, d.world.Office.Runs.Load())

	out, err = d.run("approve", id)
	require.NoError(t, err)
	require.Contains(t, out, hash, "what is approved is shown first")
	require.Contains(t, out, "Approved. It ran and returned:")
	require.EqualValues(t, 1, d.world.Office.Runs.Load())

	_, err = d.run("approve", id)
	require.ErrorContains(t, err, "spent")
	require.EqualValues(t, 1, d.world.Office.Runs.Load())
}

func TestOnlyWhatWasSeenIsApproved(t *testing.T) {
	d := open(t)
	id := d.ask()
	for _, shown := range []string{"junk", strings.Repeat("0a", 32)} {
		_, err := d.run("approve", id, shown)
		require.Error(t, err, shown)
	}
	require.Zero(t, d.world.Office.Runs.Load())
	require.Equal(t, "waiting", d.status(id))
}

func TestAnOperatorDismisses(t *testing.T) {
	d := open(t)
	id := d.ask()
	out, err := d.run("dismiss", id, "not", "this", "card")
	require.NoError(t, err)
	require.Equal(t, "Dismissed. Nothing was changed.\n", out)
	require.Equal(t, "dismissed", d.status(id))
	_, err = d.run("approve", id)
	require.ErrorContains(t, err, "dismissed")
	require.Zero(t, d.world.Office.Runs.Load())
}

func TestCommandsThatAreNone(t *testing.T) {
	d := open(t)
	for _, args := range [][]string{nil, {"serve"}, {"show"}, {"approve"}, {"dismiss"}} {
		_, err := d.run(args...)
		require.ErrorContains(t, err, "usage", args)
	}
	for _, args := range [][]string{{"show", "nope"}, {"approve", "nope"}, {"dismiss", "nope", "why"}, {"approve", "nope", "nope"}} {
		_, err := d.run(args...)
		require.Error(t, err, args)
	}
}

// What is neither the client nor of the same user is refused before anything is looked at.
func TestNobodyElseDecides(t *testing.T) {
	d := open(t)
	id := d.ask()
	info, err := os.Stat(d.file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	var door struct{ Address, Secret string }
	text, err := os.ReadFile(d.file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &door))
	require.True(t, strings.HasPrefix(door.Address, "127.0.0.1:"))
	require.GreaterOrEqual(t, len(door.Secret), 26, "128 bits in base 32")

	send := func(change func(*http.Request)) int {
		body := strings.NewReader(`{"command":"dismiss","proposal":"` + id + `"}`)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+door.Address+"/", body)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+door.Secret)
		r.Header.Set("Content-Type", "application/vnd.sallyport.operator+json")
		change(r)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, res.Body)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	for name, change := range map[string]func(*http.Request){
		"no secret":        func(r *http.Request) { r.Header.Del("Authorization") },
		"another secret":   func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.Repeat("A", len(door.Secret))) },
		"an origin":        func(r *http.Request) { r.Header.Set("Origin", "http://"+door.Address) },
		"a browser":        func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") },
		"a rebound name":   func(r *http.Request) { r.Host = "evil.example" },
		"localhost's name": func(r *http.Request) { r.Host = "localhost:80" },
		"a form":           func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") },
		"plain text":       func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"a GET":            func(r *http.Request) { r.Method = http.MethodGet },
		"no JSON":          func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("x")); r.ContentLength = 1 },
	} {
		require.GreaterOrEqual(t, send(change), 400, name)
		require.Equal(t, "waiting", d.status(id), name)
	}
	require.Equal(t, http.StatusOK, send(func(*http.Request) {}))
	require.Equal(t, "dismissed", d.status(id))

	d.stop()
	require.NoFileExists(t, d.file)
	_, err = d.run("pending")
	require.ErrorContains(t, err, "nothing is served here")
}

// What a model wrote cannot steer the terminal.
func TestTerminalsAreNotSteered(t *testing.T) {
	d := open(t)
	id := d.ask()
	_, err := d.run("dismiss", id, "\x1b[2J\u202e")
	require.NoError(t, err)
	out, err := d.run("show", "\x1b[2J")
	require.Error(t, err)
	require.NotContains(t, out+err.Error(), "\x1b")
}

func TestTwoProcesses(t *testing.T) {
	d := open(t)
	stop, err := operator.Start(operator.Config{
		Desk: func() *approval.Desk { return d.world.Desk }, Scope: store.Scope, Person: authz.LoggedIn(store.Sue), File: d.file,
	})
	require.NoError(t, err)
	d.stop()
	require.FileExists(t, d.file, "the file of the later one stays")
	_, err = d.run("pending")
	require.NoError(t, err)
	stop()
	require.NoFileExists(t, d.file)
}
