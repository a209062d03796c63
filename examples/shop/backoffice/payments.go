package backoffice

import "github.com/sallyport-dev/sallyport/examples/internal/arith"

// GiftCard is the source of a [PaymentMethod] that has a balance.
const GiftCard = "gift_card"

// PaymentMethod is one way in which a user pays: a gift card, a credit card or a
// PayPal account.
type PaymentMethod struct {
	Source   string   `json:"source"`
	ID       string   `json:"id"`
	Balance  *float64 `json:"balance,omitempty"`   // of a gift card
	Brand    string   `json:"brand,omitempty"`     // of a credit card
	LastFour string   `json:"last_four,omitempty"` // of a credit card
}

// The transaction types of a [Payment].
const (
	Paid     = "payment"
	Refunded = "refund"
)

// Payment is an entry in the payment history of an order.
type Payment struct {
	TransactionType string  `json:"transaction_type"`
	Amount          float64 `json:"amount"`
	PaymentMethodID string  `json:"payment_method_id"`
}

// covers reports whether the method can pay an amount. Only a gift card can
// fall short.
func (m PaymentMethod) covers(amount float64) bool {
	return m.Balance == nil || *m.Balance >= amount
}

// charge takes an amount from a gift card; a negative amount is given back.
// Other methods have no balance here: the bank sees to them.
func (u *User) charge(methodID string, amount float64) {
	method := u.PaymentMethods[methodID]
	if method.Balance == nil {
		return
	}
	balance := arith.Cents(*method.Balance - amount)
	method.Balance = &balance
	u.PaymentMethods[methodID] = method
}

func (m PaymentMethod) clone() PaymentMethod {
	if m.Balance != nil {
		balance := *m.Balance
		m.Balance = &balance
	}
	return m
}
