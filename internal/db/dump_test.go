package db_test

import (
	"testing"

	"sepad/internal/db"
)

// TestAnAddressIsSaidAsLibpqTakesIt leaves out what only our driver knows, and the password, and keeps blanks.
func TestAnAddressIsSaidAsLibpqTakesIt(t *testing.T) {
	t.Parallel()
	const given = "postgres://sepad:secret@db/sepad?application_name=my%20shop&options=-c+work_mem%3D8MB&password=secret&pool_max_conns=4&sslmode=disable"
	const want = "postgres://sepad@db/sepad?application_name=my%20shop&options=-c%20work_mem%3D8MB&sslmode=disable"
	if got, err := db.ToolAddress(given); err != nil || got != want {
		t.Errorf("it is %q (%v), want %q", got, err, want)
	}
}
