package office

import (
	"context"
	"maps"
)

// airports are where the airline flies, with their cities.
var airports = map[string]string{
	"ATL": "Atlanta", "BOS": "Boston", "CLT": "Charlotte", "DEN": "Denver", "DFW": "Dallas",
	"DTW": "Detroit", "EWR": "Newark", "IAH": "Houston", "JFK": "New York", "LAS": "Las Vegas",
	"LAX": "Los Angeles", "LGA": "LaGuardia", "MCO": "Orlando", "MIA": "Miami", "MSP": "Minneapolis",
	"ORD": "Chicago", "PHL": "Philadelphia", "PHX": "Phoenix", "SEA": "Seattle", "SFO": "San Francisco",
}

// ListAirports has no parameters.
type ListAirports struct{}

// ListAllAirports returns the city of each airport.
func (a *Airline) ListAllAirports(ctx context.Context, _ ListAirports) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return maps.Clone(airports), nil
}
