package merchant

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxShownName is how much of a mistyped name is worth repeating.
const maxShownName = 64

// shown is a name from the file as a terminal may show it.
func shown(name string) string {
	if len(name) > maxShownName {
		name = name[:maxShownName] + "..."
	}
	quoted := strconv.QuoteToASCII(name)
	if quoted == `"`+name+`"` && name != "" {
		return name
	}
	return quoted
}

// DidYouMean suggests the known name that a mistyped one is nearest to.
func DidYouMean(name string, known []string) string {
	if len(name) > maxShownName {
		return ""
	}
	distances := map[string]int{}
	for _, candidate := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d <= allowedSlips(candidate) {
			distances[candidate] = d
		}
	}
	if len(distances) == 0 {
		return ""
	}
	nearest := slices.MinFunc(slices.Sorted(maps.Keys(distances)), func(a, b string) int { return distances[a] - distances[b] })
	return fmt.Sprintf(" Did you mean %s?", nearest)
}

// allowedSlips is how far from a word a mistyped one may be: two letters that
// changed places count twice, but in a short word two letters are all there is.
func allowedSlips(word string) int {
	if len(word) < 4 {
		return 1
	}
	return max(2, len(word)/3)
}

// distance counts the letters to insert, drop or replace between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
