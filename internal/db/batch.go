package db

import (
	"iter"
	"strings"
)

// batchSizes are the numbers of rows that one statement may name. Few sizes make
// few texts, which the databases then know as prepared statements.
var batchSizes = []int{128, 64, 32, 16, 8, 4, 2, 1}

// listSizes are the numbers of single values that one statement may list. SQLite finds each parameter by its name among all
// others: a list of a thousand takes it some five times as long as ten of a hundred.
var listSizes = append([]int{256}, batchSizes...)

// InBatches cuts rows into pieces of those sizes.
func InBatches[T any](all []T) iter.Seq[[]T] { return inPieces(all, batchSizes) }

// InLists does so with values that stand for themselves, of which a statement takes
// more than of whole rows.
func InLists[T any](all []T) iter.Seq[[]T] { return inPieces(all, listSizes) }

func inPieces[T any](all []T, sizes []int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for _, size := range sizes {
			for len(all) >= size {
				if !yield(all[:size]) {
					return
				}
				all = all[size:]
			}
		}
	}
}

// Placeholders writes rows of parameters, beginning with a number: for two rows
// of two columns from 1 it is ($1, $2), ($3, $4).
func Placeholders(first, rows, columns int) string {
	var text strings.Builder
	for row := range rows {
		if row > 0 {
			text.WriteString(", ")
		}
		for column := range columns {
			text.WriteString([]string{"(", ", "}[min(column, 1)] + Place(first))
			first++
		}
		text.WriteByte(')')
	}
	return text.String()
}
