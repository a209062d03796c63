package office_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
)

func open(t *testing.T) *office.Airline {
	t.Helper()
	a, err := office.Open()
	require.NoError(t, err)
	return a
}

func TestSampleDataLosesNothing(t *testing.T) {
	file, err := os.Open("data/db.json.gz")
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	want, err := io.ReadAll(unzipped)
	require.NoError(t, err)

	snapshot := open(t).Snapshot()
	data := snapshot.Data()
	require.Len(t, data.Users, 27)
	require.Len(t, data.Reservations, 132)
	require.Len(t, data.Flights, 241)
	require.JSONEq(t, string(want), string(snapshot.Bytes()))
}

// The airline relies on these.
func TestSampleDataIsConsistent(t *testing.T) {
	data := open(t).Snapshot().Data()
	for id, reservation := range data.Reservations {
		require.Equal(t, id, reservation.ReservationID)
		require.Contains(t, data.Users, reservation.UserID)
		require.Contains(t, data.Users[reservation.UserID].Reservations, id)
	}
	for _, user := range data.Users {
		for id, method := range user.PaymentMethods {
			require.Equal(t, id, method.ID)
			require.Equal(t, method.Source == office.GiftCard || method.Source == office.Certificate, method.Amount != nil)
		}
	}
	for number, flight := range data.Flights {
		require.Equal(t, number, flight.FlightNumber)
		for _, departure := range flight.Dates {
			require.Equal(t, departure.Status == office.Available, departure.Prices != nil)
			require.Equal(t, departure.Prices != nil, departure.AvailableSeats != nil)
		}
	}
}

func TestAirlinesAreSeparate(t *testing.T) {
	one, other := open(t), open(t)
	fresh := other.Snapshot().Bytes()
	_, err := one.CancelReservation(t.Context(), office.CancelReservation{ReservationID: reservation})
	require.NoError(t, err)
	require.NotEqual(t, fresh, one.Snapshot().Bytes())
	require.Equal(t, fresh, other.Snapshot().Bytes())
	require.Equal(t, fresh, open(t).Snapshot().Bytes())
}

func TestAnswersAreTheCallersOwn(t *testing.T) {
	a := open(t)
	snapshot := a.Snapshot()
	before := snapshot.Bytes()

	r, err := a.GetReservationDetails(t.Context(), office.GetReservation{ReservationID: reservation})
	require.NoError(t, err)
	r.Flights[0].Price, r.Passengers[0].DOB, r.PaymentHistory[0].Amount = 0, "", 0

	user, err := a.GetUserDetails(t.Context(), office.GetUser{UserID: owner})
	require.NoError(t, err)
	for _, method := range user.PaymentMethods {
		if method.Amount != nil {
			*method.Amount = 1e6
		}
	}
	user.Reservations[0] = ""

	direct, err := a.SearchDirectFlight(t.Context(), office.Search{Origin: "JFK", Destination: "SEA", Date: "2024-05-20"})
	require.NoError(t, err)
	direct[0].Prices["economy"], direct[0].AvailableSeats["economy"] = 0, 0
	stop, err := a.SearchOnestopFlight(t.Context(), office.Search{Origin: "JFK", Destination: "SEA", Date: "2024-05-20"})
	require.NoError(t, err)
	stop[0][0].Prices["economy"], stop[0][1].Prices["economy"] = 0, 0

	airports, err := a.ListAllAirports(t.Context(), office.ListAirports{})
	require.NoError(t, err)
	delete(airports, "JFK")
	airports, err = a.ListAllAirports(t.Context(), office.ListAirports{})
	require.NoError(t, err)
	require.Len(t, airports, 20)

	data := snapshot.Data()
	data.Reservations[reservation].Status = office.Cancelled
	data.Flights["HAT003"].Dates["2024-05-19"].Prices["economy"] = 0
	delete(data.Users, owner)

	require.Equal(t, before, snapshot.Bytes())
	require.Equal(t, before, a.Snapshot().Bytes())
}

func TestOwnersAndVersions(t *testing.T) {
	a := open(t)
	who, ok := a.ReservationOwner(reservation)
	require.True(t, ok)
	require.Equal(t, owner, who)
	require.True(t, a.HasUser(owner))
	require.Len(t, a.UserVersion(owner), 64)

	_, ok = a.ReservationOwner("AAAAAA")
	require.False(t, ok)
	require.False(t, a.HasUser("nobody_0"))
	require.Empty(t, a.ReservationVersion("AAAAAA"))
	require.Empty(t, a.UserVersion("nobody_0"))

	version := a.ReservationVersion(reservation)
	_, err := a.CancelReservation(t.Context(), office.CancelReservation{ReservationID: reservation})
	require.NoError(t, err)
	require.NotEqual(t, version, a.ReservationVersion(reservation))
}

// Each of many bookings has an id of its own, and there are three. Others meanwhile read what is either before
// or after one, never between.
func TestConcurrentCalls(t *testing.T) {
	a := open(t)
	before := len(a.Snapshot().Data().Users[owner].Reservations)
	var booked atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := a.BookReservation(t.Context(), booking()); err == nil {
				booked.Add(1)
			}
		})
		group.Go(func() {
			data := a.Snapshot().Data()
			for _, id := range data.Users[owner].Reservations[before:] {
				if data.Reservations[id] == nil {
					text, _ := json.Marshal(data.Users[owner])
					t.Errorf("%s without its reservation", text)
				}
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 3, booked.Load())
	require.Len(t, a.Snapshot().Data().Reservations, 135)
}
