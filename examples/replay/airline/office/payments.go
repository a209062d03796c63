package office

// The sources of a [PaymentMethod] that have an amount left.
const (
	GiftCard    = "gift_card"
	Certificate = "certificate"
)

// PaymentMethod is one way in which a user pays: a gift card, a travel
// certificate or a credit card.
type PaymentMethod struct {
	Source   string   `json:"source"`
	ID       string   `json:"id"`
	Amount   *float64 `json:"amount,omitempty"`    // of a gift card or certificate
	Brand    string   `json:"brand,omitempty"`     // of a credit card
	LastFour string   `json:"last_four,omitempty"` // of a credit card
}

// Payment is a sum and the method that pays it. An amount below zero is given
// back.
type Payment struct {
	PaymentID string  `json:"payment_id" jsonschema_description:"The payment id stored in user profile, such as 'credit_card_7815826', 'gift_card_7815826', 'certificate_7815826'."`
	Amount    float64 `json:"amount" jsonschema:"minimum=0" jsonschema_description:"The amount to be paid."`
}

// covers reports whether the method can pay an amount. A credit card always can.
func (m PaymentMethod) covers(amount float64) bool {
	return m.Amount == nil || *m.Amount >= amount
}

// spend takes an amount from a gift card, or gives it back if it is negative. A
// certificate is used up, whatever it was worth.
func (u *User) spend(id string, amount float64) {
	switch method := u.PaymentMethods[id]; method.Source {
	case GiftCard:
		left := *method.Amount - amount
		method.Amount = &left
		u.PaymentMethods[id] = method
	case Certificate:
		delete(u.PaymentMethods, id)
	}
}

// settle pays for a change of a reservation that costs an amount. A certificate
// cannot; what is given back may go to a gift card.
func (u *User) settle(r *Reservation, id string, amount float64) error {
	method, ok := u.PaymentMethods[id]
	switch {
	case !ok:
		return refuse("payment method not found")
	case method.Source == Certificate:
		return refuse("certificate cannot be used to update reservation")
	case !method.covers(amount):
		return refuse("gift card balance is not enough")
	}
	u.spend(id, amount)
	if amount != 0 {
		r.PaymentHistory = append(r.PaymentHistory, Payment{PaymentID: id, Amount: amount})
	}
	return nil
}

func (m PaymentMethod) clone() PaymentMethod {
	if m.Amount != nil {
		amount := *m.Amount
		m.Amount = &amount
	}
	return m
}
