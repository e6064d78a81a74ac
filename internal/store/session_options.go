package store

import (
	"database/sql"
	"encoding/json"

	"sepad/internal/payment"
)

// optionsText is how what a merchant says of a session is kept: as one text, since
// nothing of it is looked for; NULL where nothing was said.
func optionsText(w payment.SessionOptions) any {
	if w == (payment.SessionOptions{}) {
		return nil
	}
	text, err := json.Marshal(w)
	if err != nil {
		panic(err) // it is made of texts
	}
	return string(text)
}

// optionsInto scans them.
type optionsInto struct{ to *payment.SessionOptions }

func (w optionsInto) Scan(value any) error {
	var text sql.NullString
	if err := text.Scan(value); err != nil {
		return err
	}
	*w.to = payment.SessionOptions{}
	if !text.Valid {
		return nil
	}
	return json.Unmarshal([]byte(text.String), w.to)
}
