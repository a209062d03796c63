package changes

import (
	"context"
	"time"

	"github.com/sallyport-dev/sallyport/ledger"
)

const (
	batch = 1000 // records of one query

	// overlap is how long the trail is read again behind its newest record: stores number records before they
	// commit them, so that one may appear behind a newer one.
	overlap = 3 * time.Second
)

// Trail is a reader that follows the audit trail of one scope. It is for one goroutine at a time.
type Trail struct {
	low  int64               // everything up to here has been read
	seen map[int64]time.Time // when what is after low was
}

// NewTrail returns a reader of what comes after a place.
func NewTrail(after int64) *Trail { return &Trail{after, map[int64]time.Time{}} }

// Read returns the records that it has not returned before, by a function that lists those after a place in
// ascending order.
func (t *Trail) Read(ctx context.Context, after func(ctx context.Context, seq int64, limit int) ([]ledger.Record, error)) ([]ledger.Record, error) {
	now := time.Now()
	var fresh []ledger.Record
	for seq := t.low; ; {
		records, err := after(ctx, seq, batch)
		if err != nil {
			for _, r := range fresh { // or they would be lost
				delete(t.seen, r.Seq)
			}
			return nil, err
		}
		for _, r := range records {
			if _, ok := t.seen[r.Seq]; !ok {
				t.seen[r.Seq] = now
				fresh = append(fresh, r)
			}
		}
		if len(records) < batch {
			break
		}
		seq = records[len(records)-1].Seq
	}
	for seq, at := range t.seen {
		if now.Sub(at) > overlap {
			t.low = max(t.low, seq)
		}
	}
	for seq := range t.seen {
		if seq <= t.low {
			delete(t.seen, seq)
		}
	}
	return fresh, nil
}
