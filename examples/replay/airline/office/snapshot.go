package office

import "github.com/sallyport-dev/sallyport/examples/internal/recorddiff"

// Snapshot is what the airline held at one moment. It is cheap to take, never
// changes, and may be used concurrently. The zero Snapshot holds nothing.
type Snapshot struct {
	data Data
}

// Snapshot returns what the airline holds now.
func (a *Airline) Snapshot() Snapshot {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Snapshot{data: a.data.share()}
}

// Data returns a copy of all records.
func (s Snapshot) Data() Data {
	data := s.data.share()
	copyAll(data.Users)
	copyAll(data.Reservations)
	copyAll(data.Flights)
	return data
}

// Bytes returns all records as canonical JSON (RFC 8785). Snapshots with equal
// bytes hold the same.
func (s Snapshot) Bytes() []byte { return recorddiff.Canonical(s.data) }

// Diff returns the records that differ between two snapshots, and the changes
// that, applied in this order, make the first into the second: by collection, id
// and path.
func Diff(before, after Snapshot) ([]recorddiff.RecordChange, []recorddiff.Change) {
	d := recorddiff.New()
	recorddiff.Collection(d, "flights", before.data.Flights, after.data.Flights)
	recorddiff.Collection(d, "reservations", before.data.Reservations, after.data.Reservations)
	recorddiff.Collection(d, "users", before.data.Users, after.data.Users)
	return d.Records, d.Changes
}

// HasUser reports whether there is such a user.
func (a *Airline) HasUser(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.data.Users[id]
	return ok
}

// ReservationOwner returns the id of the user whose reservation it is; ok is
// false if there is no such reservation.
func (a *Airline) ReservationOwner(id string) (userID string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reservation, ok := a.data.Reservations[id]
	if !ok {
		return "", false
	}
	return reservation.UserID, true
}

// ReservationVersion returns the hex SHA-256 of a reservation's canonical JSON,
// or "" if there is no such reservation. One that differs in anything has another
// version.
func (a *Airline) ReservationVersion(id string) string {
	return version(a, a.data.Reservations, id)
}

// UserVersion is to users what [Airline.ReservationVersion] is to reservations.
func (a *Airline) UserVersion(id string) string { return version(a, a.data.Users, id) }

func version[T any](a *Airline, records map[string]*T, id string) string {
	a.mu.Lock()
	record := records[id]
	a.mu.Unlock()
	return recorddiff.Version(record)
}

func copyAll[T interface{ clone() T }](records map[string]T) {
	for id, record := range records {
		records[id] = record.clone()
	}
}
