package office_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
)

// The owner of the reservation has a gift card with 280 left, a certificate of 150 and a credit card.
const (
	reservation = "FQ8APE"
	owner       = "omar_rossi_1241"
	giftCard    = "gift_card_8190333"
	certificate = "certificate_8390038"
	creditCard  = "credit_card_6754990"
)

// booking is a flight for 121, paid by credit card.
func booking() office.BookReservation {
	return office.BookReservation{
		UserID: owner, Origin: "JFK", Destination: "SEA", FlightType: "one_way", Cabin: "economy",
		Flights:        []office.Leg{{FlightNumber: "HAT069", Date: "2024-05-20"}},
		Passengers:     []office.Passenger{{FirstName: "Omar", LastName: "Rossi", DOB: "1970-06-06"}},
		PaymentMethods: []office.Payment{{PaymentID: creditCard, Amount: 121}},
		Insurance:      "no",
	}
}

func TestRefusals(t *testing.T) {
	book := func(change func(*office.BookReservation)) func(context.Context, *office.Airline) error {
		return func(ctx context.Context, a *office.Airline) error {
			p := booking()
			change(&p)
			_, err := a.BookReservation(ctx, p)
			return err
		}
	}
	pay := func(payments ...office.Payment) func(context.Context, *office.Airline) error {
		return book(func(p *office.BookReservation) { p.PaymentMethods = payments })
	}
	flights := func(p office.UpdateFlights) func(context.Context, *office.Airline) error {
		return func(ctx context.Context, a *office.Airline) error {
			_, err := a.UpdateReservationFlights(ctx, p)
			return err
		}
	}
	bags := func(p office.UpdateBaggages) func(context.Context, *office.Airline) error {
		return func(ctx context.Context, a *office.Airline) error {
			_, err := a.UpdateReservationBaggages(ctx, p)
			return err
		}
	}
	leg := func(number, date string) []office.Leg { return []office.Leg{{FlightNumber: number, Date: date}} }
	for _, test := range []struct {
		name     string
		call     func(context.Context, *office.Airline) error
		text     string
		notFound bool
	}{
		{"book for an unknown user", book(func(p *office.BookReservation) { p.UserID = "nobody_0" }),
			"Error: user not found", true},
		{"book an unknown flight", book(func(p *office.BookReservation) { p.Flights = leg("HAT999", "2024-05-20") }),
			"Error: flight HAT999 not found", false},
		{"book for a day without the flight", book(func(p *office.BookReservation) { p.Flights = leg("HAT069", "2024-06-20") }),
			"Error: flight HAT069 not found on date 2024-06-20", false},
		{"book a flight that has landed", book(func(p *office.BookReservation) { p.Flights = leg("HAT030", "2024-05-13") }),
			"Error: flight HAT030 not available on date 2024-05-13", false},
		{"book more seats than there are", book(func(p *office.BookReservation) { p.Passengers = make([]office.Passenger, 13) }),
			"Error: not enough seats on flight HAT069", false},
		{"book a cabin that there is not", book(func(p *office.BookReservation) { p.Cabin = "first" }),
			"Error: not enough seats on flight HAT069", false},
		{"pay with a stranger's card", pay(office.Payment{PaymentID: "credit_card_4421486", Amount: 121}),
			"Error: payment method credit_card_4421486 not found", false},
		{"pay more than a gift card has", pay(office.Payment{PaymentID: giftCard, Amount: 281}),
			"Error: not enough balance in payment method gift_card_8190333", false},
		{"pay twice from a gift card that covers it once", pay(office.Payment{PaymentID: giftCard, Amount: 200}, office.Payment{PaymentID: giftCard, Amount: 200}),
			"Error: not enough balance in payment method gift_card_8190333", false},
		{"use a certificate twice", pay(office.Payment{PaymentID: certificate, Amount: 60}, office.Payment{PaymentID: certificate, Amount: 61}),
			"Error: payment method certificate_8390038 not found", false},
		{"pay too little", pay(office.Payment{PaymentID: creditCard, Amount: 120.5}),
			"Error: payment amount does not add up, total price is 121, but paid 120.5", false},

		{"change an unknown reservation", flights(office.UpdateFlights{ReservationID: "AAAAAA"}), "Error: reservation not found", true},
		{"change to an unknown flight", flights(office.UpdateFlights{ReservationID: reservation, Cabin: "economy", Flights: leg("HAT999", "2024-05-20"), PaymentID: creditCard}),
			"Error: flight HAT999 not found", false},
		{"change at a stranger's expense", flights(office.UpdateFlights{ReservationID: reservation, PaymentID: "credit_card_4421486"}),
			"Error: payment method not found", false},
		{"change with a certificate", flights(office.UpdateFlights{ReservationID: reservation, PaymentID: certificate}),
			"Error: certificate cannot be used to update reservation", false},

		{"bags on an unknown reservation", bags(office.UpdateBaggages{ReservationID: "AAAAAA"}), "Error: reservation not found", true},
		{"bags for more than a gift card has", bags(office.UpdateBaggages{ReservationID: reservation, TotalBaggages: 9, NonfreeBaggages: 9, PaymentID: giftCard}),
			"Error: gift card balance is not enough", false},

		{"other passengers on an unknown reservation", func(ctx context.Context, a *office.Airline) error {
			_, err := a.UpdateReservationPassengers(ctx, office.UpdatePassengers{ReservationID: "AAAAAA"})
			return err
		}, "Error: reservation not found", true},
		{"more passengers", func(ctx context.Context, a *office.Airline) error {
			_, err := a.UpdateReservationPassengers(ctx, office.UpdatePassengers{ReservationID: reservation, Passengers: make([]office.Passenger, 7)})
			return err
		}, "Error: number of passengers does not match", false},
		{"cancel an unknown reservation", func(ctx context.Context, a *office.Airline) error {
			_, err := a.CancelReservation(ctx, office.CancelReservation{ReservationID: "AAAAAA"})
			return err
		}, "Error: reservation not found", true},
		{"a certificate for an unknown user", func(ctx context.Context, a *office.Airline) error {
			_, err := a.SendCertificate(ctx, office.SendCertificate{UserID: "nobody_0", Amount: 1})
			return err
		}, "Error: user not found", true},
		{"read an unknown user", func(ctx context.Context, a *office.Airline) error {
			_, err := a.GetUserDetails(ctx, office.GetUser{UserID: "nobody_0"})
			return err
		}, "Error: user not found", true},
		{"read an unknown reservation", func(ctx context.Context, a *office.Airline) error {
			_, err := a.GetReservationDetails(ctx, office.GetReservation{ReservationID: "AAAAAA"})
			return err
		}, "Error: reservation not found", true},
		{"calculate nonsense", func(ctx context.Context, a *office.Airline) error {
			_, err := a.Calculate(ctx, office.Calculation{Expression: "2 ^ 3"})
			return err
		}, "Error: invalid characters in expression", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := open(t)
			before := a.Snapshot()
			err := test.call(t.Context(), a)
			require.EqualError(t, err, test.text)
			require.ErrorAs(t, err, new(*office.Error))
			require.Equal(t, test.notFound, isNotFound(err))
			records, changes := office.Diff(before, a.Snapshot())
			require.Empty(t, records)
			require.Empty(t, changes)
		})
	}
}

func TestRoomForThree(t *testing.T) {
	a := open(t)
	for range 3 {
		_, err := a.SendCertificate(t.Context(), office.SendCertificate{UserID: owner, Amount: 50})
		require.NoError(t, err)
		_, err = a.BookReservation(t.Context(), booking())
		require.NoError(t, err)
	}
	_, err := a.SendCertificate(t.Context(), office.SendCertificate{UserID: owner, Amount: 50})
	require.EqualError(t, err, "Error: no more certificates can be sent to user omar_rossi_1241")
	_, err = a.BookReservation(t.Context(), booking())
	require.EqualError(t, err, "Error: no more reservations can be made")
}

// A second cancellation takes the refunds back, as it was recorded.
func TestCancelledTwice(t *testing.T) {
	a := open(t)
	r, err := a.CancelReservation(t.Context(), office.CancelReservation{ReservationID: reservation})
	require.NoError(t, err)
	paid := len(r.PaymentHistory)
	r, err = a.CancelReservation(t.Context(), office.CancelReservation{ReservationID: reservation})
	require.NoError(t, err)
	require.Equal(t, office.Cancelled, r.Status)
	require.Len(t, r.PaymentHistory, 2*paid)
	total := 0.0
	for _, payment := range r.PaymentHistory {
		total += payment.Amount
	}
	require.Zero(t, total)
}

func TestCancelledContexts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := open(t)
	for name, call := range map[string]func() error{
		"read":     func() error { _, err := a.GetUserDetails(ctx, office.GetUser{UserID: owner}); return err },
		"search":   func() error { _, err := a.SearchDirectFlight(ctx, office.Search{}); return err },
		"one stop": func() error { _, err := a.SearchOnestopFlight(ctx, office.Search{}); return err },
		"airports": func() error { _, err := a.ListAllAirports(ctx, office.ListAirports{}); return err },
		"think":    func() error { _, err := a.Think(ctx, office.Thought{}); return err },
		"sum":      func() error { _, err := a.Calculate(ctx, office.Calculation{Expression: "1"}); return err },
		"transfer": func() error { _, err := a.TransferToHumanAgents(ctx, office.Handoff{}); return err },
		"book":     func() error { _, err := a.BookReservation(ctx, booking()); return err },
		"cancel": func() error {
			_, err := a.CancelReservation(ctx, office.CancelReservation{ReservationID: reservation})
			return err
		},
	} {
		require.ErrorIs(t, call(), context.Canceled, name)
	}
}
