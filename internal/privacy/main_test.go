package privacy_test

import (
	"os"
	"testing"

	"sepad/internal/app/apptest"
)

// TestMain has every answer of these tests held against openapi-admin.yaml, exports and erasures of whole stories included.
func TestMain(m *testing.M) {
	apptest.HoldsOperators = true
	os.Exit(m.Run())
}
