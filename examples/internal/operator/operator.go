// Package operator lets a person decide about proposals from a terminal: what the examples that serve a model
// offer their operator until there is a console.
//
// [Start] serves one person's decisions on loopback, on a port of its own, and leaves the address and a secret
// in a file that only the user who started it can read. [Run] is the client: the subcommands pending, show,
// approve and dismiss. Nothing of this is on the connection that a model uses. Web pages cannot call it either:
// it wants the secret, a content type that no form can send, and no Origin.
package operator

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
)

// Config says who decides about what. All of it is required.
type Config struct {
	Desk   func() *approval.Desk // asked for each command: a registry that changes at run time has a new one
	Scope  authz.Scope
	Person authz.Person // whoever can read File decides in this person's name
	File   string       // for address and secret; what is there is replaced
}

// DefaultFile returns where an example keeps address and secret if nobody says otherwise.
func DefaultFile(example string) string {
	dir, err := os.UserConfigDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "sallyport", example+".json")
}

// contentType is one that no HTML form and no script without permission can send.
const contentType = "application/vnd.sallyport.operator+json"

// door is what the file says.
type door struct {
	Address string `json:"address"`
	Secret  string `json:"secret"`
}

type request struct {
	Command  string `json:"command"`
	Proposal string `json:"proposal,omitempty"`
	Shown    string `json:"shown,omitempty"`  // the hash that the person saw, in hexadecimal
	Reason   string `json:"reason,omitempty"` // of a dismissal
}

type response struct {
	Text  string `json:"text,omitempty"`
	Shown string `json:"shown,omitempty"`
	Error string `json:"error,omitempty"`
}

// Start serves the operator until stop is called, which also removes the file.
func Start(c Config) (stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("operator: %w", err)
	}
	d := door{listener.Addr().String(), rand.Text()}
	if err := d.write(c.File); err != nil {
		return nil, errors.Join(fmt.Errorf("operator: %w", err), listener.Close())
	}
	server := &http.Server{Handler: d.guard(c), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until stop
	}()
	return func() {
		_ = server.Close()
		<-done
		d.remove(c.File)
	}, nil
}

// write puts the door into the file. The rename gives nobody a moment in which the file is readable to others,
// whatever was there before.
func (d door) write(file string) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".operator-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// remove takes the file away, unless another process has put its own there.
func (d door) remove(file string) {
	if there, err := read(file); err == nil && there == d {
		_ = os.Remove(file)
	}
}

func read(file string) (d door, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	return d, err
}

// guard lets only those in who read the file, and no browser.
func (d door) guard(c Config) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, err := netip.ParseAddrPort(r.Host)
		known := subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+d.Secret)) == 1
		browser := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
		switch {
		case err != nil || !host.Addr().IsLoopback() || browser || !known:
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		case r.Method != http.MethodPost || r.Header.Get("Content-Type") != contentType:
			http.Error(w, "not a command", http.StatusUnsupportedMediaType)
			return
		}
		var q request
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&q); err != nil {
			http.Error(w, "not a command", http.StatusBadRequest)
			return
		}
		a, err := c.answer(r.Context(), q)
		if err != nil {
			a = response{Error: err.Error()}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(a) // a client that went away needs no answer
	})
}
