package sepad_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMetricsInTheDocsExist keeps alerts from watching names that nobody counts.
func TestMetricsInTheDocsExist(t *testing.T) {
	t.Parallel()
	code := textOf(t, "internal", ".go")
	metric := regexp.MustCompile(`\bsepad_[a-z_]+[a-z]\b`)
	named := metric.FindAllString(textOf(t, "docs", ".md")+textOf(t, "README.md", ".md"), -1)
	for _, name := range named {
		if !strings.Contains(code, `"`+name+`"`) {
			t.Errorf("the docs name the metric %s, which does not exist", name)
		}
	}
	if len(named) == 0 {
		t.Error("the docs name no metric at all")
	}
}

// TestTestsInTheDocsExist keeps the security page from resting on tests that are gone.
func TestTestsInTheDocsExist(t *testing.T) {
	t.Parallel()
	tests := textOf(t, ".", "_test.go")
	named := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(textOf(t, "docs", "security.md"), -1)
	for _, name := range named {
		if !strings.Contains(tests, "func "+name+"(t *testing.T)") {
			t.Errorf("docs/security.md names %s, which does not exist", name)
		}
	}
	if len(named) == 0 {
		t.Error("docs/security.md names no test at all")
	}
}

// textOf gathers the files below a path whose names end alike.
func textOf(t *testing.T, below, suffix string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(below, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		content, err := os.ReadFile(path)
		text.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}
