package backoffice

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// User is a customer.
type User struct {
	Name           Name                     `json:"name"`
	Address        Address                  `json:"address"`
	Email          string                   `json:"email"`
	PaymentMethods map[string]PaymentMethod `json:"payment_methods"`
	Orders         []string                 `json:"orders"`
}

// Name is a user's name.
type Name struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
}

// Address is where a user lives or an order goes.
type Address struct {
	Address1 string `json:"address1" jsonschema_description:"The first line of the address, such as '123 Main St'."`
	Address2 string `json:"address2" jsonschema_description:"The second line of the address, such as 'Apt 1' or ''."`
	City     string `json:"city" jsonschema_description:"The city, such as 'San Francisco'."`
	State    string `json:"state" jsonschema_description:"The state, such as 'CA'."`
	Country  string `json:"country" jsonschema_description:"The country, such as 'USA'."`
	Zip      string `json:"zip" jsonschema_description:"The zip code, such as '12345'."`
}

// GetUser names a user to read.
type GetUser struct {
	UserID string `json:"user_id" jsonschema_description:"The user id, such as 'sara_doe_496'."`
}

// FindByEmail is what is known of a user to find.
type FindByEmail struct {
	Email string `json:"email" jsonschema_description:"The email of the user, such as 'something@example.com'."`
}

// FindByNameZip is what is known of a user to find.
type FindByNameZip struct {
	FirstName string `json:"first_name" jsonschema_description:"The first name of the customer, such as 'John'."`
	LastName  string `json:"last_name" jsonschema_description:"The last name of the customer, such as 'Doe'."`
	Zip       string `json:"zip" jsonschema_description:"The zip code of the customer, such as '12345'."`
}

// UserAddress is a new default address for a user.
type UserAddress struct {
	UserID string `json:"user_id" jsonschema_description:"The user id, such as 'sara_doe_496'."`
	Address
}

// GetUserDetails returns a user with the ids of their orders.
func (s *Shop) GetUserDetails(ctx context.Context, p GetUser) (User, error) {
	user, err := find(ctx, s, s.data.Users, p.UserID, errUserNotFound)
	if err != nil {
		return User{}, err
	}
	return *user, nil
}

// FindUserIDByEmail returns the id of the user with that email, in any case of
// letters.
func (s *Shop) FindUserIDByEmail(ctx context.Context, p FindByEmail) (string, error) {
	return s.findUser(ctx, func(u *User) bool { return strings.EqualFold(u.Email, p.Email) })
}

// FindUserIDByNameZip returns the id of the user with that name, in any case of
// letters, and the zip code of their default address. If several fit, it is the
// first in order of ids.
func (s *Shop) FindUserIDByNameZip(ctx context.Context, p FindByNameZip) (string, error) {
	return s.findUser(ctx, func(u *User) bool {
		return strings.EqualFold(u.Name.FirstName, p.FirstName) &&
			strings.EqualFold(u.Name.LastName, p.LastName) &&
			u.Address.Zip == p.Zip
	})
}

// ModifyUserAddress gives a user a new default address. Orders keep theirs.
func (s *Shop) ModifyUserAddress(ctx context.Context, p UserAddress) (User, error) {
	if err := ctx.Err(); err != nil {
		return User{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.data.Users[p.UserID]
	if !ok {
		return User{}, errUserNotFound
	}
	user := stored.clone()
	user.Address = p.Address
	s.data.Users[p.UserID] = user
	return *user.clone(), nil
}

func (s *Shop) findUser(ctx context.Context, fits func(*User) bool) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.data.Users)) {
		if fits(s.data.Users[id]) {
			return id, nil
		}
	}
	return "", errUserNotFound
}

func (u *User) clone() *User {
	c := *u
	c.PaymentMethods = maps.Clone(u.PaymentMethods)
	for id, method := range c.PaymentMethods {
		c.PaymentMethods[id] = method.clone()
	}
	c.Orders = slices.Clone(u.Orders)
	return &c
}
