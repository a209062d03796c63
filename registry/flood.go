package registry

import (
	"math/bits"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

const (
	floodWindow = time.Minute
	floodKeys   = 4096
)

// flood counts equal refusals, so that a model that repeats one does not fill the audit trail: within a
// window the first, second, fourth, eighth and so on are recorded, each with how many it stands for.
type flood struct {
	mu   sync.Mutex
	seen map[refusalKey]*repeats
}

type refusalKey struct {
	scope                      authz.Scope
	actor, principal, operator authz.ID
	action, proposal, reason   string
	code                       ledger.Code
}

type repeats struct {
	since    time.Time
	total    uint
	recorded uint
}

// count returns how many refusals the record stands for; zero if it is not to be written. Known says whether
// there is an action of the record's name.
func (f *flood) count(r *ledger.Record, known bool) int {
	k := refusalKey{
		scope: r.Session.Scope(), actor: r.Session.Actor(), operator: r.Operator,
		action: r.Action, proposal: r.Proposal, reason: r.Reason, code: r.Code,
	}
	k.principal, _ = r.Session.Principal()
	if !known {
		k.action = "" // a made-up name is no reason for a record of its own
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) >= floodKeys || f.seen == nil {
		f.seen = map[refusalKey]*repeats{}
	}
	n := f.seen[k]
	if n == nil {
		n = &repeats{since: r.At}
		f.seen[k] = n
	}
	if r.At.Sub(n.since) >= floodWindow {
		*n = repeats{since: r.At, recorded: 0, total: n.total - n.recorded}
		n.total++
		return n.mark()
	}
	n.total++
	if bits.OnesCount(n.total) != 1 {
		return 0
	}
	return n.mark()
}

// mark returns how many came since the last record.
func (n *repeats) mark() int {
	c := n.total - n.recorded
	n.recorded = n.total
	return int(c)
}
