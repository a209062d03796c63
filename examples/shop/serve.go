package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/verify"
)

//go:embed web
var pages embed.FS

// people are those whom a visitor of the demonstration can be, by a click.
var people = []struct {
	ID    authz.ID
	Name  string
	Words string
}{
	{"isabella_lopez_6490", "Isabella", "a customer, who chats with the assistant"},
	{store.Sam, "Sam", "of the staff, who approves what customers ask for"},
	{store.Ada, "Ada", "the owner, who also decides what the assistant may do"},
}

// site is the shop in a browser: the chat at /, and the console behind /console/.
type site struct {
	world   *store.World
	loop    *chattools.Loop
	name    string // of the model
	key     []byte // of the cookies
	console *console.Console
	page    *template.Template

	mu    sync.Mutex
	talks map[authz.ID]*talk
}

// talk is one customer's conversation.
type talk struct {
	mu   sync.Mutex
	talk chattools.Conversation
}

// serve opens the shop in a browser until ctx ends.
func serve(ctx context.Context, out io.Writer, o options) (err error) {
	addr, dsn := o.addr, o.dsn
	dir, err := home()
	if err != nil {
		return err
	}
	if dsn == "" {
		dsn = filepath.Join(dir, "shop.db")
	}
	place := store.InMemory()
	if dsn != "memory" {
		if place, err = store.DatabaseOf(dsn).Open(ctx, "shop_"); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	keys, err := store.KeysIn(filepath.Join(dir, "shop.key"))
	if err != nil {
		return err
	}
	world, err := store.Open(ctx, place, keys, o.life)
	if err != nil {
		return err
	}
	if dsn != "memory" {
		if err := history(ctx, world, o.life); err != nil {
			return err
		}
	}
	model, name, err := modelOf(os.Getenv)
	if name == "a script" {
		model = guide{}
	}
	if err != nil {
		return err
	}
	s, err := newSite(world, model, name)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The shop is open at http://%s/ and keeps everything in %s.\n", l.Addr(), dsn)
	fmt.Fprintf(out, "The assistant is %s. Be Isabella in one window and Sam in a private one: she asks, he decides.\n", name)
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	server.RegisterOnShutdown(s.console.Close)
	stop := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(late) // whoever is still there after that is cut off
	})
	defer stop()
	go judge(ctx, world)
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// judge finds out now and then whether what was done helped, or says that nothing measures it.
func judge(ctx context.Context, w *store.World) {
	verifier := verify.New(w.Reg)
	for tick := time.NewTicker(10 * time.Second); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			if _, err := verifier.RunDue(ctx, 100); err != nil && ctx.Err() == nil {
				w.Reg.Log().ErrorContext(ctx, "nothing could be verified", "error", err)
			}
		}
	}
}

// home is the folder where the shop keeps its file and its keys.
func home() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "sallyport-shop")
	return dir, os.MkdirAll(dir, 0o700)
}

func newSite(w *store.World, model chattools.Model, name string) (*site, error) {
	s := &site{world: w, name: name, key: make([]byte, 32), talks: map[authz.ID]*talk{}}
	rand.Read(s.key) // never fails
	s.loop = chattools.NewLoop(w.Gate, model, chattools.Options{System: "You are the assistant of an online shop. Be brief, and say what waits for approval."})
	var err error
	if s.page, err = template.ParseFS(pages, "web/page.html"); err != nil {
		return nil, err
	}
	s.console, err = console.New(console.Config{
		Gate: func() *chattools.Gate { return w.Gate }, Who: s.who, Title: "The shop", Home: "/", SignIn: "/", SignOut: "/leave",
	})
	return s, err
}

// who says who makes a request, by the cookie that the shop gave them.
func (s *site) who(r *http.Request) (console.Caller, error) {
	id, ok := s.visitor(r)
	if !ok {
		return console.Caller{}, console.ErrNobody
	}
	return console.Caller{Scope: store.Scope, Person: authz.LoggedIn(id)}, nil
}

const cookie = "shop"

func (s *site) visitor(r *http.Request) (authz.ID, bool) {
	c, err := r.Cookie(cookie)
	if err != nil {
		return "", false
	}
	id, mac, _ := strings.Cut(c.Value, ".")
	return authz.ID(id), hmac.Equal([]byte(mac), []byte(s.mac(id)))
}

func (s *site) mac(id string) string {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(id))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	mux.Handle("/console/", http.StripPrefix("/console", s.console))
	mux.Handle("/console", http.StripPrefix("/console", s.console))
	mux.HandleFunc("GET /{$}", s.front)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, pages, "web/style.css") })
	mux.HandleFunc("POST /enter", s.enter)
	mux.HandleFunc("GET /leave", s.leavePage)
	mux.HandleFunc("POST /leave", s.leave)
	mux.HandleFunc("POST /chat", s.chat)
	http.NewCrossOriginProtection().Handler(mux).ServeHTTP(w, r)
}

// view is what the page shows.
type view struct {
	Person, Name string
	Customer     bool
	Leaving      bool
	People       any
	Model        string
	Lines        []line
}

// line is one line of a conversation.
type line struct{ Who, Text string }

func (s *site) front(w http.ResponseWriter, r *http.Request) {
	v := view{People: people, Model: s.name}
	if id, ok := s.visitor(r); ok {
		v.Person = string(id)
		for _, p := range people {
			if p.ID == id {
				v.Name = p.Name
			}
		}
		if v.Customer = id != store.Sam && id != store.Ada; v.Customer {
			if err := s.news(r.Context(), id); err != nil {
				s.fail(w, err)
				return
			}
			v.Lines = s.lines(id)
		}
	}
	s.show(w, v)
}

func (s *site) show(w http.ResponseWriter, v view) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := s.page.Execute(w, v); err != nil {
		s.world.Reg.Log().Error("the page could not be rendered", "error", err)
	}
}

func (s *site) fail(w http.ResponseWriter, err error) {
	s.world.Reg.Log().Error("the chat could not answer", "error", err)
	http.Error(w, "The assistant cannot answer now. Try again.", http.StatusBadGateway)
}

func (s *site) enter(w http.ResponseWriter, r *http.Request) {
	for _, p := range people {
		if r.PostFormValue("person") == string(p.ID) {
			http.SetCookie(w, &http.Cookie{
				Name: cookie, Value: string(p.ID) + "." + s.mac(string(p.ID)), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
			})
			to := "/"
			if p.ID == store.Sam || p.ID == store.Ada {
				to = "/console/"
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
	}
	http.Error(w, "There is nobody of this name here.", http.StatusBadRequest)
}

func (s *site) leavePage(w http.ResponseWriter, r *http.Request) {
	id, _ := s.visitor(r)
	s.show(w, view{Person: string(id), Name: string(id), Leaving: true})
}

func (s *site) leave(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", MaxAge: -1, HttpOnly: true})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// of returns a customer's conversation.
func (s *site) of(id authz.ID) *talk {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.talks[id] == nil {
		s.talks[id] = new(talk)
	}
	return s.talks[id]
}

func (s *site) session(id authz.ID) (authz.Session, error) {
	session, err := s.world.Session(string(id), "")
	return session.WithOrigin("chat"), err
}

func (s *site) chat(w http.ResponseWriter, r *http.Request) {
	id, ok := s.visitor(r)
	text := strings.TrimSpace(r.PostFormValue("text"))
	if !ok || text == "" || len(text) > 4000 {
		http.Error(w, "Sign in, and say something.", http.StatusBadRequest)
		return
	}
	session, err := s.session(id)
	if err != nil {
		s.fail(w, err)
		return
	}
	t := s.of(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := s.loop.Say(r.Context(), session, &t.talk, text, nil); err != nil {
		s.fail(w, err)
		return
	}
	http.Redirect(w, r, "/#end", http.StatusSeeOther)
}

// news lets the assistant say what became of what it asked for.
func (s *site) news(ctx context.Context, id authz.ID) error {
	session, err := s.session(id)
	if err != nil {
		return err
	}
	t := s.of(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = s.loop.Resume(ctx, session, &t.talk, nil)
	return err
}

func (s *site) lines(id authz.ID) (lines []line) {
	t := s.of(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.talk.Messages {
		switch m.Role {
		case chattools.RoleUser:
			lines = append(lines, line{"you", m.Text})
		case chattools.RoleNotice:
			for _, n := range m.Notices {
				lines = append(lines, line{"ledger", n.Action + ": " + n.Status.Status})
			}
		default:
			if m.Text != "" {
				lines = append(lines, line{"assistant", m.Text})
			}
			for _, c := range m.Calls {
				lines = append(lines, line{"tool", c.Name + " " + shorten(string(c.Arguments))})
			}
		}
	}
	return lines
}
