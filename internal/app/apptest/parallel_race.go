//go:build race

package apptest

// sideBySide is lower under the race detector, which makes everything compute
// many times as long: tests must not starve each other into time limits.
const sideBySide = 2
