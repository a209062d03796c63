package office

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// Search says from where to where, and when.
type Search struct {
	Origin      string `json:"origin" jsonschema_description:"The origin city airport in three letters, such as 'JFK'."`
	Destination string `json:"destination" jsonschema_description:"The destination city airport in three letters, such as 'LAX'."`
	Date        string `json:"date" jsonschema_description:"The date of the flight in the format 'YYYY-MM-DD', such as '2024-05-01'."`
}

// Offer is a flight that can be booked.
type Offer struct {
	Connection
	Departure
	Date string `json:"date,omitempty"` // where the search allows more than one
}

// SearchDirectFlight returns the flights that can be booked, by flight number.
func (a *Airline) SearchDirectFlight(ctx context.Context, p Search) ([]Offer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	offers := []Offer{}
	for _, flight := range a.timetable() {
		if flight.Origin != p.Origin || flight.Destination != p.Destination {
			continue
		}
		if offer, ok := flight.offer(p.Date); ok {
			offer.Date = ""
			offers = append(offers, offer)
		}
	}
	return offers, nil
}

// SearchOnestopFlight returns pairs of flights that can be booked, the second of
// which leaves when the first has arrived: on the next day if that is when the
// first arrives. The pairs come by flight numbers. Both flights are quoted as of
// the date of the search, so that a second flight on the next day can have another
// price when it is booked; that is how it was recorded.
func (a *Airline) SearchOnestopFlight(ctx context.Context, p Search) ([][]Offer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	pairs := [][]Offer{}
	timetable := a.timetable()
	for _, first := range timetable {
		if first.Origin != p.Origin {
			continue
		}
		one, ok := first.offer(p.Date)
		if !ok {
			continue
		}
		arrives, date := first.arrival(p.Date)
		for _, second := range timetable {
			if second.Origin != first.Destination || second.Destination != p.Destination || second.Departs < arrives {
				continue
			}
			two, ok := second.offer(date)
			if !ok {
				continue
			}
			if quoted, ok := second.Dates[p.Date]; ok {
				two.Departure = quoted.clone()
			}
			pairs = append(pairs, []Offer{one, two})
		}
	}
	return pairs, nil
}

// timetable returns all flights by number. The airline must be locked.
func (a *Airline) timetable() []*Flight {
	flights := make([]*Flight, 0, len(a.data.Flights))
	for _, number := range slices.Sorted(maps.Keys(a.data.Flights)) {
		flights = append(flights, a.data.Flights[number])
	}
	return flights
}

// offer returns the flight on a date, if it can be booked then.
func (f *Flight) offer(date string) (Offer, bool) {
	departure, ok := f.Dates[date]
	return Offer{Connection: f.Connection, Departure: departure.clone(), Date: date}, ok && departure.Status == Available
}

// arrival returns when a flight that leaves on a date arrives, and on which date.
func (f *Flight) arrival(departs string) (clock, date string) {
	clock, late := strings.CutSuffix(f.Arrives, "+1")
	day, err := time.Parse(time.DateOnly, departs)
	if !late || err != nil {
		return clock, departs
	}
	return clock, day.AddDate(0, 0, 1).Format(time.DateOnly)
}
