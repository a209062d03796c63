package office

import "maps"

// Available is the status of a flight on a date when it can be booked.
const Available = "available"

// Flight is a connection between two airports, and what becomes of it each day.
type Flight struct {
	Connection
	Dates map[string]Departure `json:"dates"` // by date, such as 2024-05-20
}

// Connection is what is the same on every date of a flight. An arrival on the
// next day has "+1" behind its time.
type Connection struct {
	FlightNumber string `json:"flight_number"`
	Origin       string `json:"origin"`
	Destination  string `json:"destination"`
	Departs      string `json:"scheduled_departure_time_est"`
	Arrives      string `json:"scheduled_arrival_time_est"`
}

// Departure is a flight on one date: seats and prices by cabin if it is
// available, and times once they are known to differ from the schedule.
type Departure struct {
	Status             string             `json:"status"`
	AvailableSeats     map[string]int     `json:"available_seats,omitempty"`
	Prices             map[string]float64 `json:"prices,omitempty"`
	ActualDeparture    string             `json:"actual_departure_time_est,omitempty"`
	ActualArrival      string             `json:"actual_arrival_time_est,omitempty"`
	EstimatedDeparture string             `json:"estimated_departure_time_est,omitempty"`
	EstimatedArrival   string             `json:"estimated_arrival_time_est,omitempty"`
}

// Leg is a flight on a date, as one asks for it.
type Leg struct {
	FlightNumber string `json:"flight_number" jsonschema_description:"Flight number, such as 'HAT001'."`
	Date         string `json:"date" jsonschema_description:"The date for the flight in the format 'YYYY-MM-DD', such as '2024-05-01'."`
	Origin       string `json:"origin,omitempty" jsonschema_description:"Not needed: the flight number says it."`
	Destination  string `json:"destination,omitempty" jsonschema_description:"Not needed: the flight number says it."`
}

// book returns a leg as a segment at today's price, if there are seats for so
// many passengers. The airline must be locked.
func (a *Airline) book(leg Leg, cabin string, passengers int) (Segment, error) {
	flight, ok := a.data.Flights[leg.FlightNumber]
	if !ok {
		return Segment{}, refuse("flight %s not found", leg.FlightNumber)
	}
	departure, ok := flight.Dates[leg.Date]
	if !ok {
		return Segment{}, refuse("flight %s not found on date %s", leg.FlightNumber, leg.Date)
	}
	if departure.Status != Available {
		return Segment{}, refuse("flight %s not available on date %s", leg.FlightNumber, leg.Date)
	}
	seats, ok := departure.AvailableSeats[cabin]
	if !ok || seats < passengers {
		return Segment{}, refuse("not enough seats on flight %s", leg.FlightNumber)
	}
	return Segment{
		FlightNumber: leg.FlightNumber, Date: leg.Date, Price: departure.Prices[cabin],
		Origin: flight.Origin, Destination: flight.Destination,
	}, nil
}

//lint:ignore U1000 find calls it through its type parameter, which the linter does not follow.
func (f *Flight) clone() *Flight {
	c := *f
	c.Dates = maps.Clone(f.Dates)
	for date, departure := range c.Dates {
		c.Dates[date] = departure.clone()
	}
	return &c
}

func (d Departure) clone() Departure {
	d.AvailableSeats = maps.Clone(d.AvailableSeats)
	d.Prices = maps.Clone(d.Prices)
	return d
}
