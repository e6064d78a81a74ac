package db

import (
	"slices"
	"testing"
	"time"
)

type parcel struct {
	id     string
	weight int64
	sentAt time.Time
	due    int64
}

var parcels = Table[parcel]{Name: "parcels", Columns: []Column[parcel]{
	Field("id", func(p *parcel) *string { return &p.id }),
	Field("weight", func(p *parcel) *int64 { return &p.weight }).Changing(),
	Time("sent_at", func(p *parcel) *time.Time { return &p.sentAt }),
	Field("due_at", func(p *parcel) *int64 { return &p.due }).As("db_now() + ?").Changing(),
}}

func TestTableTexts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ got, want string }{
		"a list":                        {parcels.List(""), "id, weight, sent_at, due_at"},
		"a list under a short name":     {parcels.List("p"), "p.id, p.weight, p.sent_at, p.due_at"},
		"an insert":                     {parcels.Insert(), "INSERT INTO parcels (id, weight, sent_at, due_at) VALUES ($1, $2, $3, db_now() + $4)"},
		"places behind others":          {parcels.Places(7), "$7, $8, $9, db_now() + $10"},
		"the place of a column":         {parcels.Place("sent_at", 7), "$9"},
		"an update":                     {parcels.Set(3), "weight = $3, due_at = db_now() + $4"},
		"a list without a column":       {parcels.Without("weight").List(""), "id, sent_at, due_at"},
		"the table itself as it was":    {parcels.List(""), "id, weight, sent_at, due_at"},
		"an update without its columns": {parcels.Without("weight", "due_at").Set(1), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
}

func TestTableValues(t *testing.T) {
	t.Parallel()
	p := parcel{id: "a", weight: 5, sentAt: time.UnixMicro(9), due: 3}
	if got := parcels.Values(&p); !slices.Equal(got, []any{"a", int64(5), int64(9), int64(3)}) {
		t.Errorf("values are %v", got)
	}
	if got := parcels.Changes(&p, "key"); !slices.Equal(got, []any{"key", int64(5), int64(3)}) {
		t.Errorf("changes are %v", got)
	}
	if got := parcels.Values(&parcel{}); got[2] != nil {
		t.Errorf("no instant is written as %v", got[2])
	}
	fields := parcels.Fields(&p)
	if fields[0] != any(&p.id) || fields[1] != any(&p.weight) || fields[2] != any(Instant{To: &p.sentAt}) {
		t.Error("a scan would put a value elsewhere")
	}
}

func TestAColumnThatIsNotThere(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a statement was made with the parameter of another column")
		}
	}()
	parcels.Place("wieght", 1)
}
