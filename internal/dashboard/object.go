package dashboard

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/timeline"
	"sepad/internal/web"
)

// objectView is a record with what belongs to it, what can be done and what happened.
type objectView struct {
	// List is the path's name of the list that it is in.
	List, ListTitle, Title string
	Status                 cell
	// Headline is what matters most of it, such as an amount.
	Headline string
	Facts    []fact
	Related  []fact
	Actions  []action
	Timeline []storyView
	// Note is a sentence about it that a person should know.
	Note string
}

// fact is a named value.
type fact struct {
	Label string
	cell
}

// storyView is an entry of a timeline, with where its object is looked at.
type storyView struct {
	timeline.Entry
	Href string
}

// action is something that can be done, with a sentence that says what happens to whom.
type action struct {
	Title, Sentence, Path, Button string
	// Sure is asked before it is done.
	Sure     string
	Fields   []field
	IsDanger bool
	// RequestKey makes sure that it is done once, however often the form is sent.
	RequestKey string
	// Seen is what whoever fills it in goes by, "" for nothing that could have changed.
	Seen string
}

// field is one of a form.
type field struct {
	Name, Label, Value, Hint, Kind string
	Options                        []option
	Required                       bool
}

// IsWide tells a field that takes a line of its own.
func (f field) IsWide() bool { return f.Hint != "" }

// mayDo tells whether whoever asks has the right to a form.
func mayDo(r *http.Request, pattern string) bool {
	who, _ := people.Who(r.Context())
	return people.RightTo(http.MethodPost, pattern).Admits(who)
}

// add puts an action onto the page of whoever may do it.
func (v *objectView) add(r *http.Request, pattern string, a action) {
	if mayDo(r, pattern) {
		a.RequestKey = payment.NewID().String()
		v.Actions = append(v.Actions, a)
	}
}

// told reads what happened to an object.
func (d *Dashboard) told(r *http.Request, tenantID uuid.UUID, of listing.Subject) ([]storyView, error) {
	entries, err := timeline.Read(r.Context(), d.Store, tenantID, of)
	return withPaths(entries), err
}

func withPaths(entries []timeline.Entry) []storyView {
	story := make([]storyView, len(entries))
	for i, e := range entries {
		story[i] = storyView{e, objectPath(e.Object)}
	}
	return story
}

// objectPaths are where the objects of timelines are looked at.
var objectPaths = map[string]string{
	"session": "sessions", "transaction": "transactions", "chargeback": "chargebacks", "subscription": "subscriptions", "event": "events",
	"mandate": "mandates", "lead": "leads", "import": "imports", "bank_entry": "bank-entries",
}

func objectPath(o timeline.Object) string {
	if list, known := objectPaths[o.Type]; known {
		return "/dashboard/" + list + "/" + o.ID + "/"
	}
	return ""
}

// named finds the object of a path, and what names of its tenant's set-up mean.
func (d *Dashboard) named(r *http.Request, owner func(*http.Request, uuid.UUID) (uuid.UUID, error)) (tenantID, id uuid.UUID, n names, err error) {
	if id, err = pathID(r); err != nil {
		return tenantID, id, nil, err
	}
	if tenantID, err = owner(r, id); err != nil {
		return tenantID, id, nil, err
	}
	setups, err := d.setups(r.Context())
	return tenantID, id, namesOf(setups), err
}

// requestKey makes sure that a form which is sent twice is done once.
func (d *Dashboard) requestKey(r *http.Request) store.RequestKey {
	const longest = 64
	key := r.PostForm.Get("request_key")
	if key == "" || len(key) > longest {
		key = payment.NewID().String()
	}
	return web.NewRequestKey("dashboard:"+key, people.RequestScope(r.Context()), r.URL.Path+"\n"+r.PostForm.Encode(), d.Checkout.Clock.Now())
}

// amountOf reads an amount of a form, nil where it is left out.
func amountOf(r *http.Request, name string, bad payment.Fields) *payment.Minor {
	typed := r.PostForm.Get(name)
	if typed == "" {
		return nil
	}
	minor, err := payment.ParseMinor(typed)
	if err == nil && minor == 0 {
		err = errNoAmount
	}
	if err != nil {
		bad.Add(name, err.Error())
		return nil
	}
	return &minor
}
