package backoffice

import (
	"maps"

	"github.com/sallyport-dev/sallyport/examples/internal/recorddiff"
)

// Snapshot is what the shop held at one moment. It is cheap to take, never
// changes, and may be used concurrently. The zero Snapshot holds nothing.
type Snapshot struct {
	data Data
}

// Snapshot returns what the shop holds now.
func (s *Shop) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Snapshot{data: s.data.share()}
}

// Data returns a copy of all records.
func (s Snapshot) Data() Data {
	data := s.data.share()
	copyAll(data.Users)
	copyAll(data.Orders)
	copyAll(data.Products)
	return data
}

// With returns a snapshot in which the given records take the place of those with the same id.
func (s Snapshot) With(records Data) Snapshot {
	return Snapshot{Data{
		Users: with(s.data.Users, records.Users), Orders: with(s.data.Orders, records.Orders), Products: with(s.data.Products, records.Products),
	}}
}

func with[T any](old, records map[string]T) map[string]T {
	all := make(map[string]T, len(old)+len(records))
	maps.Copy(all, old)
	maps.Copy(all, records)
	return all
}

// Since returns the records that were put into a shop after another snapshot of it. Do not change them.
func (s Snapshot) Since(before Snapshot) Data {
	return Data{
		Users: put(before.data.Users, s.data.Users), Orders: put(before.data.Orders, s.data.Orders), Products: put(before.data.Products, s.data.Products),
	}
}

func put[T comparable](before, after map[string]T) map[string]T {
	fresh := map[string]T{}
	for id, record := range after {
		if before[id] != record {
			fresh[id] = record
		}
	}
	return fresh
}

// RecordChange names a record that changed, with its versions.
type RecordChange = recorddiff.RecordChange

// Change is one value that changed. Its path is a JSON pointer into the [Data],
// such as /orders/#W2611340/status.
type Change = recorddiff.Change

// Diff returns the records that differ between two snapshots, and the changes
// that, applied in this order, make the first into the second: by collection, id
// and path.
func Diff(before, after Snapshot) ([]RecordChange, []Change) {
	d := recorddiff.New()
	recorddiff.Collection(d, "orders", before.data.Orders, after.data.Orders)
	recorddiff.Collection(d, "products", before.data.Products, after.data.Products)
	recorddiff.Collection(d, "users", before.data.Users, after.data.Users)
	return d.Records, d.Changes
}

// Bytes returns all records as canonical JSON (RFC 8785). Snapshots with equal
// bytes hold the same.
func (s Snapshot) Bytes() []byte { return recorddiff.Canonical(s.data) }

// HasUser reports whether there is such a user.
func (s *Shop) HasUser(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.data.Users[id]
	return ok
}

// OrderOwner returns the id of the user whose order it is; ok is false if there
// is no such order.
func (s *Shop) OrderOwner(id string) (userID string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, ok := s.data.Orders[id]
	if !ok {
		return "", false
	}
	return order.UserID, true
}

// OrderVersion returns the hex SHA-256 of an order's canonical JSON, or "" if
// there is no such order. An order that differs in anything has another version.
func (s *Shop) OrderVersion(id string) string { return version(s, s.data.Orders, id) }

// UserVersion is to users what [Shop.OrderVersion] is to orders.
func (s *Shop) UserVersion(id string) string { return version(s, s.data.Users, id) }

func version[T any](s *Shop, records map[string]*T, id string) string {
	s.mu.Lock()
	record := records[id]
	s.mu.Unlock()
	return recorddiff.Version(record)
}

func copyAll[T interface{ clone() T }](records map[string]T) {
	for id, record := range records {
		records[id] = record.clone()
	}
}
