package airline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sallyport-dev/sallyport/examples/internal/recorddiff"
	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
)

// plain makes a call of the airline with arguments in JSON and nothing in between.
type plain func(context.Context, *office.Airline, []byte) (any, error)

type method[P, R any] func(*office.Airline, context.Context, P) (R, error)

func plainly[P, R any](run method[P, R]) plain {
	return func(ctx context.Context, a *office.Airline, arguments []byte) (any, error) {
		decoder := json.NewDecoder(bytes.NewReader(arguments))
		decoder.DisallowUnknownFields()
		var p P
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		return run(a, ctx, p)
	}
}

// tools are all calls of the airline by name.
var tools = map[string]plain{
	"book_reservation":              plainly((*office.Airline).BookReservation),
	"calculate":                     plainly((*office.Airline).Calculate),
	"cancel_reservation":            plainly((*office.Airline).CancelReservation),
	"get_reservation_details":       plainly((*office.Airline).GetReservationDetails),
	"get_user_details":              plainly((*office.Airline).GetUserDetails),
	"list_all_airports":             plainly((*office.Airline).ListAllAirports),
	"search_direct_flight":          plainly((*office.Airline).SearchDirectFlight),
	"search_onestop_flight":         plainly((*office.Airline).SearchOnestopFlight),
	"send_certificate":              plainly((*office.Airline).SendCertificate),
	"think":                         plainly((*office.Airline).Think),
	"transfer_to_human_agents":      plainly((*office.Airline).TransferToHumanAgents),
	"update_reservation_baggages":   plainly((*office.Airline).UpdateReservationBaggages),
	"update_reservation_flights":    plainly((*office.Airline).UpdateReservationFlights),
	"update_reservation_passengers": plainly((*office.Airline).UpdateReservationPassengers),
}

// direct makes a call directly. The airline's refusal is an answer like any other.
func direct(ctx context.Context, a *office.Airline, name string, arguments []byte) (Expect, error) {
	run := tools[name]
	if run == nil {
		return Expect{}, fmt.Errorf("airline: no tool %q", name)
	}
	before := a.Snapshot()
	result, err := run(ctx, a, arguments)
	if _, refused := errors.AsType[*office.Error](err); err != nil && !refused {
		return Expect{}, err
	}
	got := Expect{OK: err == nil}
	if err != nil {
		result = err.Error()
	}
	got.Records, got.Changes = office.Diff(before, a.Snapshot())
	got.Result, err = json.Marshal(result)
	return got, err
}

// differences says in what e, which was recorded, and what came of the same call now are not the same.
func (e Expect) differences(got Expect) []string {
	var all []string
	if e.OK != got.OK || !sameJSON(e.Result, got.Result) {
		all = append(all, fmt.Sprintf("answered %s, recorded %s", got.Result, e.Result))
	}
	if !slices.Equal(e.Records, got.Records) {
		all = append(all, fmt.Sprintf("changed the records %v, recorded %v", got.Records, e.Records))
	}
	if !slices.EqualFunc(e.Changes, got.Changes, sameChange) {
		all = append(all, fmt.Sprintf("changed %s, recorded %s", got.Changes, e.Changes))
	}
	return all
}

func sameChange(a, b recorddiff.Change) bool {
	return a.Op == b.Op && a.Path == b.Path && sameOrAbsent(a.Before, b.Before) && sameOrAbsent(a.After, b.After)
}

func sameOrAbsent(a, b json.RawMessage) bool {
	return len(a)+len(b) == 0 || sameJSON(a, b)
}

// sameJSON reports whether two JSON texts hold the same value, whatever the order of keys and the spelling of
// numbers. A text that is not JSON is not the same as any.
func sameJSON(a, b json.RawMessage) bool {
	return json.Valid(a) && json.Valid(b) && bytes.Equal(recorddiff.Canonical(a), recorddiff.Canonical(b))
}
