package db

import "testing"

func TestStatementsForManyRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, one, many string }{
		{
			"an insert takes its values from the rows",
			"INSERT INTO a (b, c)\n\tVALUES ($1, COALESCE($2, ')') + 1) ON CONFLICT (b) DO UPDATE SET c = excluded.c",
			"INSERT INTO a (b, c) SELECT many.p1, COALESCE(many.p2, ')') + 1 FROM many ON CONFLICT (b) DO UPDATE SET c = excluded.c",
		},
		{
			"an insert that rests on other tables goes through them for each",
			"INSERT INTO a (b) SELECT $1 FROM d WHERE d.id = $12",
			"INSERT INTO a (b) SELECT many.p1 FROM many, d WHERE d.id = many.p12",
		},
		{
			"an update finds a row for each",
			"UPDATE a SET b = (SELECT e FROM f WHERE g = $2) WHERE id = $1 AND b = 'x WHERE y'",
			"UPDATE a SET b = (SELECT e FROM f WHERE g = many.p2) FROM many WHERE id = many.p1 AND b = 'x WHERE y'",
		},
		{"what an insert does with a row that is there may not ask for more than the new one has", "INSERT INTO a (b) VALUES ($1) ON CONFLICT (b) DO UPDATE SET c = $2", ""},
		{"an update of everything has no rows to find", "UPDATE a SET b = $1", ""},
		{"other statements have no such form", "DELETE FROM a WHERE b = $1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := fromMany(c.one); got != c.many {
				t.Errorf("got  %s\nwant %s", got, c.many)
			}
		})
	}
}

func TestAnUpdateThatNobodyCountsIsNoSet(t *testing.T) {
	t.Parallel()
	update := statement{sql: "UPDATE a SET b = b + $2 WHERE id = $1"}
	if form := update.forMany(update.sql, []string{"uuid", "int8"}); form != "" {
		t.Errorf("two changes of one row would be one: %s", form)
	}
	update.none = ErrNoRow
	if form := update.forMany(update.sql, []string{"uuid", "int8"}); form == "" {
		t.Error("one that must change a row for each has no form")
	}
}

func TestStatementsOfOneUnitStayInTheirOrder(t *testing.T) {
	t.Parallel()
	unit := func(texts ...string) *sharedUnit {
		u := &sharedUnit{}
		for _, text := range texts {
			u.statements = append(u.statements, statement{sql: text, args: []any{text}})
		}
		return u
	}
	got := ""
	for _, s := range setsOf([]*sharedUnit{unit("a", "b", "c"), unit("x", "b", "b"), unit("c", "a"), unit("a", "c")}) {
		for range s.rows {
			got += s.sql
		}
		got += " "
	}
	if want := "x aa bbb ccc a "; got != want {
		t.Errorf("the sets are %q, want %q", got, want)
	}
}
