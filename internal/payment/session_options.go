package payment

import (
	"encoding/json"
)

// SessionOptions are what a merchant may say of one session beyond its price: where its
// payer is sent, what the page shows, and what the merchant wants back with its
// reports. All of it is optional, and "" is nothing said.
type SessionOptions struct {
	// ReturnURL is where the payer is sent from the bank after a payment that the
	// merchant's server has submitted.
	ReturnURL string `json:"return_url,omitempty"`
	// SuccessRedirectURL and FailureRedirectURL are where the hosted page leads on to.
	SuccessRedirectURL string `json:"success_redirect_url,omitempty"`
	FailureRedirectURL string `json:"failure_redirect_url,omitempty"`
	ProductName        string `json:"product_name,omitempty"`
	ProductDescription string `json:"product_description,omitempty"`
	// Language is that of the hosted page for a payer who has chosen none.
	Language string   `json:"language,omitempty"`
	Metadata Metadata `json:"metadata,omitempty"`
}

// Metadata are a merchant's own pairs of texts, as the text of a JSON object with
// sorted names, which can be compared; "" for none.
type Metadata string

// NewMetadata writes pairs down.
func NewMetadata(pairs map[string]string) Metadata {
	if len(pairs) == 0 {
		return ""
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		panic(err) // texts can always be written
	}
	return Metadata(text)
}

// JSON is the object itself, empty where there is none.
func (m Metadata) JSON() json.RawMessage {
	if m == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(m)
}
