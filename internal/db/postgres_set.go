package db

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// planFor makes the plans of a group: rows are found by their keys, one after the
// other. PostgreSQL keeps a plan; one that was made while a table was nearly empty
// would read all of it for every group, until it is analyzed.
const planFor = `SELECT set_config('lock_timeout', $1, TRUE), set_config('enable_seqscan', 'off', TRUE),
	set_config('enable_hashjoin', 'off', TRUE), set_config('enable_mergejoin', 'off', TRUE)`

// set is what units of a group have to say in the same words: one statement, and the
// parameters of each row.
type set struct {
	statement
	rows [][]any
}

// setsOf joins the statements of units that have the same text. Those of one unit stay
// in their order: what would have to go before something that it follows begins anew.
func setsOf(units []*sharedUnit) []*set {
	var sets []*set
	for _, u := range units {
		at := -1
		for _, s := range u.statements {
			found := slices.IndexFunc(sets[max(at, 0):], func(known *set) bool { return known.isAlike(s) })
			if found >= 0 {
				at = max(at, 0) + found
			} else {
				at++
				sets = slices.Insert(sets, at, &set{statement: s})
			}
			sets[at].rows = append(sets[at].rows, s.args)
		}
	}
	return sets
}

func (s *set) isAlike(other statement) bool {
	return s.sql == other.sql && s.next == other.next && (s.none == nil) == (other.none == nil)
}

// columns are the parameters of the form for many rows.
func (s *set) columns() []any {
	columns := make([]any, len(s.rows[0]))
	for c := range columns {
		column := make(pgtype.FlatArray[any], len(s.rows))
		for r, row := range s.rows {
			column[r] = row[c]
		}
		columns[c] = column
	}
	return columns
}

// batchOfGroup writes what the units have in common as sets.
func (p *postgres) batchOfGroup(ctx context.Context, units []*sharedUnit) (*pgx.Batch, error) {
	batch := &pgx.Batch{}
	batch.Queue(planFor, p.shared.rowPatience.String())
	for _, s := range setsOf(units) {
		text := ""
		for i, row := range s.rows {
			text, s.rows[i] = p.clock.write(s.sql, direct(row))
		}
		form := ""
		if len(s.rows) > 1 {
			var err error
			if form, err = p.forms.of(ctx, p, s.statement, text); err != nil {
				return nil, err
			}
		}
		if form != "" {
			batch.Queue(form, s.columns()...)
			continue
		}
		for _, row := range s.rows {
			batch.Queue(s.forOne(text), row...)
		}
	}
	return batch, nil
}

// setForms are statements for many rows, by those for one.
type setForms struct{ known sync.Map }

// of gives the form of a statement for many rows, "" where it has none. What types its
// parameters have PostgreSQL tells once.
func (f *setForms) of(ctx context.Context, p *postgres, s statement, text string) (string, error) {
	one := s.forOne(text)
	if known, ok := f.known.Load(one); ok {
		return known.(string), nil
	}
	connection, err := p.connections.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer connection.Release()
	description, err := connection.Conn().PgConn().Prepare(ctx, "", one, nil)
	if err != nil {
		return "", err
	}
	types := make([]string, len(description.ParamOIDs))
	for i, oid := range description.ParamOIDs {
		known, ok := connection.Conn().TypeMap().TypeForOID(oid)
		if !ok {
			return "", fmt.Errorf("db: parameter %d of %q has a type that is not known", i+1, one)
		}
		types[i] = known.Name
	}
	form := s.forMany(text, types)
	f.known.Store(one, form)
	return form, nil
}

// forOne writes a requirement so that PostgreSQL itself gives the unit up when
// it is not met: nobody could stop a pipeline half-way that is sent as a whole,
// and what stands behind the requirement must not be committed.
func (s statement) forOne(text string) string {
	switch {
	case s.next.SQL != "":
		return s.next.together(text)
	case s.none != nil:
		return "WITH required AS (" + text + " RETURNING 1) SELECT 1 / COUNT(*) FROM required"
	default:
		return text
	}
}

// forMany is the statement for many rows, each of which must meet a requirement. Their
// parameters come as an array for each column.
func (s statement) forMany(text string, types []string) string {
	arrays, names := columnsOfMany(types)
	if strings.HasPrefix(strings.TrimSpace(text), "SELECT ") {
		return lookForMany(text, arrays, names)
	}
	many := "WITH many AS (SELECT * FROM unnest(" + arrays + ") AS rows (" + names + "))"
	writing, next := fromMany(text), fromMany(s.next.SQL)
	switch {
	case s.none == nil && strings.HasPrefix(writing, "UPDATE "):
		// A row that two units change is changed once by a set, and nobody counts.
		return ""
	case writing == "" || s.next.SQL != "" && next == "":
		return ""
	case s.next.SQL != "":
		return many + ", " + s.next.written(writing) + " " + next
	case s.none != nil:
		return many + ", required AS (" + writing + " RETURNING 1) SELECT 1 / CAST(COUNT(*) = cardinality($1::" + types[0] + "[]) AS INT) FROM required"
	default:
		return many + " " + writing
	}
}

// columnsOfMany are the arrays of parameters, with their types, and the names of their columns.
func columnsOfMany(types []string) (arrays, names string) {
	for i, name := range types {
		if i > 0 {
			arrays, names = arrays+", ", names+", "
		}
		arrays, names = arrays+Place(i+1)+"::"+name+"[]", names+fmt.Sprint("p", i+1)
	}
	return arrays, names
}

var place = regexp.MustCompile(`\$(\d+)`)

// fromMany has a statement take its parameters from the rows of "many", and gives ""
// for one that cannot: what an insert does with a row that is there already knows
// nothing of where the new one came from.
func fromMany(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if at := strings.Index(text, " ON CONFLICT "); at >= 0 && place.MatchString(text[at:]) {
		return ""
	}
	switch {
	case strings.HasPrefix(text, "UPDATE "):
		at := outside(text, " WHERE ")
		if at < 0 {
			return ""
		}
		text = text[:at] + " FROM many" + text[at:]
	case outside(text, " VALUES (") >= 0:
		at := outside(text, " VALUES (")
		from := at + len(" VALUES (")
		end := from + outside(text[from:], ")")
		text = text[:at] + " SELECT " + text[from:end] + " FROM many" + text[end+1:]
	case strings.HasPrefix(text, "INSERT ") && outside(text, " FROM ") >= 0:
		at := outside(text, " FROM ") + len(" FROM ")
		text = text[:at] + "many, " + text[at:]
	default:
		return ""
	}
	return place.ReplaceAllString(text, "many.p$1")
}

// outside finds a word outside of brackets and quoted values, -1 for none.
func outside(text, word string) int {
	depth, quoted := 0, false
	for i := range len(text) {
		if depth == 0 && !quoted && strings.HasPrefix(text[i:], word) {
			return i
		}
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
	}
	return -1
}
