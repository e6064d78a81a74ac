package db

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Table names the columns of a stored row once: what is inserted, updated and
// read comes from it, and nothing is numbered by hand. The texts are made when
// the program starts; a row costs what writing its values out would cost.
type Table[R any] struct {
	Name    string
	Columns []Column[R]
}

// Column is one column of a row of type R.
type Column[R any] struct {
	name string
	// into is where a scan puts the value, value what is written.
	into, value func(*R) any
	// as is what is written around the value, "" for the value itself.
	as string
	// changes tells the columns that an update writes.
	changes bool
}

// Field is a column that holds a field as it is.
func Field[R, V any](name string, at func(*R) *V) Column[R] {
	return Column[R]{
		name:  name,
		into:  func(row *R) any { return at(row) },
		value: func(row *R) any { return *at(row) },
	}
}

// Optional is a column that holds a field which may not be there; then it is NULL.
func Optional[R, V any](name string, at func(*R) **V) Column[R] {
	return Column[R]{
		name: name,
		into: func(row *R) any { return at(row) },
		value: func(row *R) any {
			if value := *at(row); value != nil {
				return *value
			}
			return nil
		},
	}
}

// Time is a column that holds an instant; the zero time is NULL.
func Time[R any](name string, at func(*R) *time.Time) Column[R] {
	return Column[R]{
		name:  name,
		into:  func(row *R) any { return Instant{To: at(row)} },
		value: func(row *R) any { return Micros(*at(row)) },
	}
}

// Custom is a column that is kept in another form than the field has.
func Custom[R any](name string, into, value func(*R) any) Column[R] {
	return Column[R]{name: name, into: into, value: value}
}

// Changing marks a column that an update writes.
func (c Column[R]) Changing() Column[R] {
	c.changes = true
	return c
}

// As has the value written within an expression, in which ? stands for it.
func (c Column[R]) As(expression string) Column[R] {
	c.as = expression
	return c
}

func (c Column[R]) placed(number int) string {
	place := Place(number)
	if c.as == "" {
		return place
	}
	return strings.ReplaceAll(c.as, "?", place)
}

// Names are the columns in their order.
func (t Table[R]) Names() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.name
	}
	return names
}

// List is what a query selects, in the order of Fields, from a table that it
// calls by a short name; "" for none.
func (t Table[R]) List(alias string) string {
	if alias == "" {
		return strings.Join(t.Names(), ", ")
	}
	return alias + "." + strings.Join(t.Names(), ", "+alias+".")
}

// Fields are the destinations for List.
func (t Table[R]) Fields(row *R) []any { return t.AppendFields(make([]any, 0, len(t.Columns)), row) }

// AppendFields adds the destinations for List to those of other columns.
func (t Table[R]) AppendFields(fields []any, row *R) []any {
	for i := range t.Columns {
		fields = append(fields, t.Columns[i].into(row))
	}
	return fields
}

// Places are the parameters of an insert, from a number on, in the order of
// Values.
func (t Table[R]) Places(first int) string {
	places := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		places[i] = c.placed(first + i)
	}
	return strings.Join(places, ", ")
}

// Place is the parameter of one column among Places.
func (t Table[R]) Place(name string, first int) string {
	at := slices.IndexFunc(t.Columns, func(c Column[R]) bool { return c.name == name })
	if at < 0 {
		panic("db: table " + t.Name + " has no column " + name) // when the program starts
	}
	return Place(first + at)
}

// Place is how a statement writes a parameter.
func Place(number int) string { return "$" + strconv.Itoa(number) }

// Insert is the statement that writes a row with Values.
func (t Table[R]) Insert() string {
	return "INSERT INTO " + t.Name + " (" + t.List("") + ") VALUES (" + t.Places(1) + ")"
}

// Values are the parameters for Places.
func (t Table[R]) Values(row *R) []any {
	values := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		values[i] = c.value(row)
	}
	return values
}

// Set is the part of an update behind SET, with parameters from a number on.
func (t Table[R]) Set(first int) string {
	var sets []string
	for _, c := range t.changing() {
		sets = append(sets, c.name+" = "+c.placed(first+len(sets)))
	}
	return strings.Join(sets, ", ")
}

// Changes are the parameters for Set, behind those that the caller gives.
func (t Table[R]) Changes(row *R, before ...any) []any {
	for _, c := range t.Columns {
		if c.changes {
			before = append(before, c.value(row))
		}
	}
	return before
}

func (t Table[R]) changing() []Column[R] {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c Column[R]) bool { return !c.changes })
}

// Without is the table without some of its columns, for statements that get those
// from elsewhere.
func (t Table[R]) Without(names ...string) Table[R] {
	t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c Column[R]) bool { return slices.Contains(names, c.name) })
	return t
}
