package admin

import (
	"net/http"
	"time"

	"sepad/internal/jobs"
	"sepad/internal/payment"
	"sepad/internal/web"
)

// clockBody is what the sandbox's clock shows.
type clockBody struct {
	Now string `json:"now"`
}

func clockOf(now time.Time) clockBody {
	return clockBody{instantText(now)}
}

// instantText is how an instant is written.
func instantText(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }

// showClock answers GET /clock/.
func (a *Admin) showClock(w http.ResponseWriter, r *http.Request) error {
	web.WriteJSON(w, r, http.StatusOK, clockOf(a.Movable.Now()))
	return nil
}

// moveClock answers POST /clock/ once everything that fell due has been done.
func (a *Admin) moveClock(w http.ResponseWriter, r *http.Request) error {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	text := web.NewReader(object, bad).Text("advance", web.Required)
	by, err := time.ParseDuration(text)
	if text != "" && err != nil {
		bad.Add("advance", "advance must be a duration such as 744h or 90m.")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	now, err := jobs.Advance(r.Context(), a.Billing, a.Banking, a.Movable, by)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, clockOf(now))
	return nil
}
