package ledger

import (
	"context"
	"iter"
)

// Records returns the records that a query selects, all of them, page by page, so that an export of any size
// takes the memory of one page; q.Limit is how many each page has, and q.Window does not count: each page would begin
// another one. It ends with the first error.
//
// A store numbers records before they are committed. One that is committed while the records around it are being
// read may be missed: to read everything up to some instant, set q.Until to one that lies further back than any
// change can take, such as a minute.
func Records(ctx context.Context, s Store, q AuditQuery) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if q.Limit <= 0 {
			q.Limit = exportPage
		}
		q.Window = 0
		for {
			list, err := s.Audit(ctx, q)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, r := range list {
				if !yield(r, nil) {
					return
				}
			}
			if len(list) < q.Limit {
				return
			}
			if last := list[len(list)-1].Seq; q.Newest {
				q.Before = last
			} else {
				q.After = last
			}
		}
	}
}

const exportPage = 1000
