// Package web is what the console's surfaces have in common: how a route is declared, what its handler gets,
// and how an error becomes something that a person or a program can understand.
//
// A surface returns its [Route]s. Package console puts them behind the checks that hold for all of them: who
// is asking, from which site, with how much. A handler that returns an error has written nothing; the
// surface's Fail then writes the [Problem] that the error is.
package web

import (
	"net/http"

	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/authz"
)

// Request is an HTTP request of somebody whom the host has authenticated.
type Request struct {
	*http.Request
	Visit *office.Visit // nil on a route for models, for a model
	Model authz.Session // zero unless a model's credential makes the request
	Base  string        // the path under which the console is mounted, without a slash at its end
	Nonce string        // of this response's content security policy
}

// Handler answers a request, or returns an error before it has written anything.
type Handler func(w http.ResponseWriter, r *Request) error

// Route is one route of a surface, with a pattern as [http.ServeMux] takes it.
type Route struct {
	Pattern string
	Models  bool  // a model's credential may use it
	Body    int64 // the most bytes of a request's body; zero is what all have
	Open    bool  // nobody needs to be known: it serves what is the same for everyone, and has no Visit
	Handle  Handler
}

// Surface is a set of routes and the form of their errors.
type Surface struct {
	Prefix string // of its paths; the surface with the longest one answers what has no route
	Routes []Route
	Fail   func(w http.ResponseWriter, r *Request, p *Problem)
}
