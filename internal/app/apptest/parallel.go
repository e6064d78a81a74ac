//go:build !race

package apptest

// sideBySide is how many tests run at a time: they wait for answers and for
// windows of a second more than they compute.
const sideBySide = 8
