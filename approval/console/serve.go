package console

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// mount adds the routes of a surface.
func (k *Console) mount(s web.Surface) {
	k.surfaces = append(k.surfaces, s)
	slices.SortStableFunc(k.surfaces, func(a, b web.Surface) int { return len(b.Prefix) - len(a.Prefix) })
	for _, route := range s.Routes {
		k.mux.Handle(route.Pattern, k.endpoint(s, route))
	}
}

// endpoint is a route behind the checks that hold for all.
func (k *Console) endpoint(s web.Surface, route web.Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := requestOf(r)
		r.Body = http.MaxBytesReader(w, r.Body, or(route.Body, maxBody))
		if err := k.admit(q, route); err != nil {
			s.Fail(w, q, web.ProblemOf(err))
			return
		}
		q.Request = r // with the values of the pattern
		if err := route.Handle(w, q); err != nil {
			p := web.ProblemOf(err)
			if p.Status >= http.StatusInternalServerError {
				k.gate().Desk().Registry().Log().ErrorContext(r.Context(), "the console could not answer", "path", r.URL.Path, "error", err)
			}
			s.Fail(w, q, p)
		}
	})
}

// admit finds out who is asking and whether they may ask at all.
func (k *Console) admit(q *web.Request, route web.Route) error {
	if route.Open {
		return nil
	}
	ctx := q.Context()
	caller, err := k.who(q.Request)
	switch {
	case errors.Is(err, ErrNobody) || err == nil && caller.Person.IsZero() && caller.Model.IsZero():
		k.log(ctx, "a request of nobody", q.Request, nil)
		return web.NewProblem(web.CodeNobody, "")
	case err != nil:
		k.log(ctx, "the caller of a request could not be found out", q.Request, err)
		return web.NewProblem(web.CodeNobody, "Who you are could not be found out. Sign in again, or try later.")
	case !caller.Model.IsZero():
		return k.admitModel(q, caller, route)
	}
	if q.Visit, err = k.office.Enter(ctx, caller.Scope, caller.Person); err != nil {
		return err
	}
	if err := k.cross.Check(q.Request); err != nil {
		_ = q.Visit.Refuse(ctx, "console", web.Refusal(web.CodeCrossSite, err))
		return k.crossSite(q.Request)
	}
	return nil
}

// admitModel lets a model's credential to the routes that are for models, and to no other.
func (k *Console) admitModel(q *web.Request, caller Caller, route web.Route) error {
	if caller.Model.Kind() == authz.Model && caller.Scope == "" && caller.Person.IsZero() && route.Models {
		if err := k.cross.Check(q.Request); err != nil {
			k.refuse(q, caller.Model, web.CodeCrossSite, err)
			return k.crossSite(q.Request)
		}
		q.Model = caller.Model
		return nil
	}
	k.refuse(q, caller.Model, web.CodeModel, nil)
	return web.NewProblem(web.CodeModel, "")
}

// refuse records what was refused to a model.
func (k *Console) refuse(q *web.Request, s authz.Session, code ledger.Code, err error) {
	reg := k.gate().Desk().Registry()
	_ = reg.Refuse(q.Context(), ledger.Record{At: reg.Now(), Session: s, Action: "console"}, web.Refusal(code, err))
}

func (k *Console) log(ctx context.Context, what string, r *http.Request, err error) {
	k.gate().Desk().Registry().Log().WarnContext(ctx, what, "method", r.Method, "path", r.URL.Path, "error", err)
}

// crossSite tells whoever set the server up what the check saw: most often it is a proxy that rewrites Host.
func (k *Console) crossSite(r *http.Request) error {
	if origin := r.Header.Get("Origin"); origin != "" {
		return web.NewProblem(web.CodeCrossSite, "Nothing was changed. The request came from {origin} and was made to {host}. If both are this application, let the proxy pass Host on, or name the origin in TrustedOrigins.", shown(origin), shown(r.Host))
	}
	return web.NewProblem(web.CodeCrossSite, "Nothing was changed. The request came from an unnamed origin and was made to {host}. If both are this application, let the proxy pass Host on, or name the origin in TrustedOrigins.", shown(r.Host))
}

// shown bounds a header's text that goes into an answer.
func shown(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

type requestKey struct{}

func requestOf(r *http.Request) *web.Request {
	q, _ := r.Context().Value(requestKey{}).(*web.Request)
	return q
}

// ServeHTTP answers a request.
func (k *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	base, path := k.place(r)
	q := &web.Request{Base: base, Nonce: rand.Text()}
	protect(w.Header(), q.Nonce)
	if path == "" {
		http.Redirect(w, r, base+"/", http.StatusTemporaryRedirect)
		return
	}
	inner := r.Clone(context.WithValue(r.Context(), requestKey{}, q))
	inner.URL.Path, inner.URL.RawPath = path, ""
	q.Request = inner
	h, pattern := k.mux.Handler(inner)
	if pattern == "" || isRedirect(h) {
		k.unrouted(w, q)
		return
	}
	k.mux.ServeHTTP(w, inner)
}

// place says where the console is mounted, without a slash at the end, and which of its own paths is asked for.
func (k *Console) place(r *http.Request) (base, path string) {
	path = r.URL.Path
	if k.base != "" {
		if rest, ok := strings.CutPrefix(path, k.base); ok && (rest == "" || rest[0] == '/') {
			path = rest
		}
		return k.base, path
	}
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	base, ok := strings.CutSuffix(asked, r.URL.EscapedPath())
	if !ok || strings.HasPrefix(base, "//") || base != "" && base[0] != '/' {
		return "", path
	}
	return strings.TrimSuffix(base, "/"), path
}

// unrouted answers what has no route, in the form of the surface under which it would be. The methods that the
// path does have are named.
func (k *Console) unrouted(w http.ResponseWriter, q *web.Request) {
	p := web.NewProblem(web.CodeNotFound, "")
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := q.Clone(q.Context())
		other.Method = method
		if h, pattern := k.mux.Handler(other); pattern != "" && !isRedirect(h) {
			allowed = append(allowed, method)
		}
	}
	if allowed != nil {
		p = web.NewProblem(web.CodeMethod, "")
		w.Header().Set("Allow", strings.Join(allowed, ", "))
	}
	for _, s := range k.surfaces {
		if strings.HasPrefix(q.URL.Path, s.Prefix) {
			s.Fail(w, q, p)
			return
		}
	}
	k.surfaces[len(k.surfaces)-1].Fail(w, q, p)
}

// isRedirect reports whether the mux would only redirect, to an address that lacks the base path.
func isRedirect(h http.Handler) bool {
	_, ours := h.(http.HandlerFunc)
	return !ours
}

// protect sets the headers that every answer has. A surface may set others of its own.
func protect(h http.Header, nonce string) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; style-src 'nonce-"+nonce+"'; img-src 'self' data:; "+
		"font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "+
		"require-trusted-types-for 'script'; trusted-types 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Cache-Control", "no-store")
}
