package admin

import (
	"net/http"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sepad"
	"sepad/internal/web"
)

// TestWhateverTakesAFileTakesItsTurn: what has come of a file is held in memory for as long as its sender likes, and there may be
// hundreds of them.
func TestWhateverTakesAFileTakesItsTurn(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]any `yaml:"content"`
				} `yaml:"requestBody"`
			} `yaml:"post"`
		} `yaml:"paths"`
	}
	if err := yaml.Unmarshal(sepad.AdminAPI, &document); err != nil {
		t.Fatal(err)
	}
	found := 0
	for path, of := range document.Paths {
		_, takesFile := of.Post.RequestBody.Content["multipart/form-data"]
		how := readingOf(web.Route{Method: http.MethodPost, Pattern: path})
		if takesTurn := how == web.TakingIn || how == web.Comparing; takesTurn != takesFile {
			t.Errorf("POST %s takes a file: %t, and a turn: %t", path, takesFile, takesTurn)
		}
		if get := readingOf(web.Route{Method: http.MethodGet, Pattern: path}); takesFile && !strings.Contains(path, "reconciliation") && get != web.Looking {
			t.Errorf("GET %s is %d", path, get)
		}
		if takesFile {
			found++
		}
	}
	if found != len(filePaths)+1 {
		t.Errorf("%d routes take a file", found)
	}
}
