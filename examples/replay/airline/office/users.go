package office

import (
	"context"
	"maps"
	"slices"
)

// User is a customer.
type User struct {
	Name            Name                     `json:"name"`
	Address         Address                  `json:"address"`
	Email           string                   `json:"email"`
	DOB             string                   `json:"dob"`
	PaymentMethods  map[string]PaymentMethod `json:"payment_methods"`
	SavedPassengers []Passenger              `json:"saved_passengers"`
	Membership      string                   `json:"membership"`
	Reservations    []string                 `json:"reservations"`
}

// Name is a user's name.
type Name struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
}

// Address is where a user lives.
type Address struct {
	Address1 string `json:"address1"`
	Address2 string `json:"address2"`
	City     string `json:"city"`
	Country  string `json:"country"`
	State    string `json:"state"`
	Zip      string `json:"zip"`
}

// GetUser names a user to read.
type GetUser struct {
	UserID string `json:"user_id" jsonschema_description:"The user id, such as 'sara_doe_496'."`
}

// GetUserDetails returns a user with the ids of their reservations.
func (a *Airline) GetUserDetails(ctx context.Context, p GetUser) (User, error) {
	user, err := find(ctx, a, a.data.Users, p.UserID, errUserNotFound)
	if err != nil {
		return User{}, err
	}
	return *user, nil
}

func (u *User) clone() *User {
	c := *u
	c.PaymentMethods = maps.Clone(u.PaymentMethods)
	for id, method := range c.PaymentMethods {
		c.PaymentMethods[id] = method.clone()
	}
	c.SavedPassengers = slices.Clone(u.SavedPassengers)
	c.Reservations = slices.Clone(u.Reservations)
	return &c
}
