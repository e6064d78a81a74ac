package dashboard

import (
	"net/http"
	"testing"

	"sepad/internal/web"
)

// TestWhateverTakesAFileTakesItsTurn: forms with a file are read for as long as its sender likes.
func TestWhateverTakesAFileTakesItsTurn(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]web.Reading{
		importsPath: web.TakingIn, bankStatementsPath: web.TakingIn, "/dashboard/imports/matching/": web.Comparing, "/dashboard/people/": web.Looking,
	} {
		for _, s := range (&Dashboard{}).screens() {
			if s.Method == http.MethodPost && s.Pattern == path {
				if how := readingOf(s.Route); how != want {
					t.Errorf("POST %s is %d, want %d", path, how, want)
				}
				want = -1
			}
		}
		if want != -1 {
			t.Errorf("there is no POST %s", path)
		}
	}
}
