package office

import (
	"context"
	"fmt"
)

// newCertificates are the ids of certificates to come. Each user has room for
// three.
var newCertificates = []string{"certificate_3221322", "certificate_3221323", "certificate_3221324"}

// SendCertificate says who gets a certificate, and worth how much.
type SendCertificate struct {
	UserID string  `json:"user_id" jsonschema_description:"The ID of the user to book the reservation, such as 'sara_doe_496'."`
	Amount float64 `json:"amount" jsonschema:"minimum=0" jsonschema_description:"Certificate amount to send."`
}

// SendCertificate gives a user a travel certificate, and says which.
func (a *Airline) SendCertificate(ctx context.Context, p SendCertificate) (string, error) {
	var sent string
	err := a.changeUser(ctx, p.UserID, func(user *User) error {
		for _, id := range newCertificates {
			if _, taken := user.PaymentMethods[id]; !taken {
				user.PaymentMethods[id] = PaymentMethod{Source: Certificate, ID: id, Amount: &p.Amount}
				sent = fmt.Sprintf("Certificate %s added to user %s with amount %s.", id, p.UserID, number(p.Amount))
				return nil
			}
		}
		return refuse("no more certificates can be sent to user %s", p.UserID)
	})
	return sent, err
}
