package office_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
)

func isNotFound(err error) bool { return errors.Is(err, office.ErrNotFound) }

// Book a flight, see what it changed, cancel it.
func Example() {
	ctx := context.Background()
	airline, err := office.Open()
	if err != nil {
		log.Fatal(err)
	}
	before := airline.Snapshot()
	booked, err := airline.BookReservation(ctx, office.BookReservation{
		UserID: "omar_rossi_1241", Origin: "JFK", Destination: "SEA", FlightType: "one_way", Cabin: "economy",
		Flights:        []office.Leg{{FlightNumber: "HAT069", Date: "2024-05-20"}},
		Passengers:     []office.Passenger{{FirstName: "Omar", LastName: "Rossi", DOB: "1970-06-06"}},
		PaymentMethods: []office.Payment{{PaymentID: "gift_card_8190333", Amount: 121}},
		Insurance:      "no",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(booked.ReservationID, "of", booked.UserID, "costs", booked.PaymentHistory[0].Amount)
	_, changes := office.Diff(before, airline.Snapshot())
	for _, change := range changes {
		fmt.Println(change.Op, change.Path)
	}

	cancelled, err := airline.CancelReservation(ctx, office.CancelReservation{ReservationID: booked.ReservationID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cancelled.Status, cancelled.PaymentHistory[1].Amount)
	// Output:
	// HATHAT of omar_rossi_1241 costs 121
	// add /reservations/HATHAT
	// replace /users/omar_rossi_1241/payment_methods/gift_card_8190333/amount
	// add /users/omar_rossi_1241/reservations/4
	// cancelled -121
}
