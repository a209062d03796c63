package changes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Events of a stream, beside the events of package ledger that a "change" has in its data.
const (
	eventReady  = "ready"  // the client is up to date; the id is where it could go on
	eventChange = "change" // data is an office.Change
	eventResync = "resync" // something may be missing: read anew what you keep
	eventEnd    = "end"    // the server ends the stream; come back
)

// Now is the place of a client that has missed nothing.
const Now = -1

// writer writes events to one client.
type writer struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	sent map[int64]bool // while a client catches up: what it has
	stop time.Duration  // how long one write may take
}

func (w *writer) event(name string, id int64, data any) error {
	text := []byte("{}")
	if data != nil {
		var err error
		if text, err = json.Marshal(data); err != nil {
			return err
		}
	}
	place := ""
	if id > 0 {
		place = "id: " + strconv.FormatInt(id, 10) + "\n"
	}
	_, err := fmt.Fprintf(w.w, "%sevent: %s\ndata: %s\n\n", place, name, text)
	return err
}

func (w *writer) flush() error {
	return w.ctl.Flush()
}

// lift gives the next write time of its own, whatever the server allows a whole response.
func (w *writer) lift() { _ = w.ctl.SetWriteDeadline(time.Now().Add(w.stop)) } // a server without deadlines needs none

func (w *writer) changes(list []office.Change) error {
	for _, c := range list {
		if w.sent[c.Seq] {
			continue
		}
		if err := w.event(eventChange, c.Seq, c); err != nil {
			return err
		}
	}
	return nil
}

// Serve writes the stream to a client until the client goes, the stream has lived its life or the hub closes.
// The client has everything up to last, or wants what happens from [Now] on. An error means that nothing was
// written.
func (s *Stream) Serve(w http.ResponseWriter, r *http.Request, v *office.Visit, last int64) error {
	head := w.Header()
	head.Set("Content-Type", "text/event-stream; charset=utf-8")
	head.Set("Cache-Control", "no-cache, no-transform, no-store")
	head.Set("X-Accel-Buffering", "no")
	out := &writer{w: w, ctl: http.NewResponseController(w), sent: map[int64]bool{}, stop: s.hub.opt.Heartbeat + 10*time.Second}
	out.lift()
	if err := out.flush(); errors.Is(err, http.ErrNotSupported) {
		head.Del("Content-Type")
		return ErrUnflushable
	}
	if _, err := fmt.Fprintf(w, ": open\nretry: 3000\n\n"); err != nil {
		return nil
	}
	if err := out.flush(); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.hub.opt.Life)
	defer cancel()
	if s.begin(ctx, out, v, last) == nil {
		s.follow(ctx, out)
	}
	return nil
}

// begin sends what a client that comes back has missed, and then says that it is up to date, and where that is.
func (s *Stream) begin(ctx context.Context, out *writer, v *office.Visit, last int64) error {
	var list []office.Change
	records, err := []ledger.Record(nil), error(nil)
	resync := last > s.head // a place that does not exist yet was made up
	if last >= 0 && !resync {
		records, err = v.After(ctx, last, replay+1)
		if resync = err != nil || len(records) > replay; !resync {
			if list, err = v.Happening(ctx, records); err == nil {
				list, err = v.Sees(ctx, list)
			}
			resync = err != nil
		}
	}
	if resync {
		err = out.event(eventResync, 0, nil)
	} else {
		err = out.changes(list)
		for _, r := range records {
			out.sent[r.Seq] = true
		}
	}
	if err == nil {
		err = out.event(eventReady, s.head, nil)
	}
	if err != nil {
		return err
	}
	return out.flush()
}

// follow sends what happens, and something in between so that no proxy thinks the connection dead.
func (s *Stream) follow(ctx context.Context, out *writer) {
	beat := time.NewTicker(s.hub.opt.Heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-s.hub.closed:
			s.end(out)
			return
		case <-ctx.Done():
			s.end(out)
			return
		case <-beat.C:
			out.lift()
			_, err = fmt.Fprint(out.w, ": beat\n\n")
		case n := <-s.news:
			out.lift()
			var list []office.Change
			if list, err = n.of(ctx, s.hub.office, s.who); err != nil {
				s.end(out) // whoever may no longer come in is told when they come back
				return
			}
			if n.lost || s.late() {
				err = out.event(eventResync, 0, nil)
			}
			if err == nil {
				err = out.changes(list)
			}
		}
		if err == nil {
			err = out.flush()
		}
		if err != nil {
			return // the client has gone
		}
	}
}

func (s *Stream) end(out *writer) {
	out.lift()
	if out.event(eventEnd, 0, nil) == nil {
		_ = out.flush() // it may have gone already
	}
}
