package api_test

import (
	"os"
	"testing"

	"sepad/internal/app/apptest"
)

// TestMain also fails when openapi.yaml promises something that no test of this
// package has seen.
func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }
