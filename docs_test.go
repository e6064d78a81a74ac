package sepad_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// asvsSections are the sections of ASVS 5 that can apply, with how many requirements
// of levels 1 and 2 each has; they come first in every section.
const asvsSections = `1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4 5.1:1 5.2:3 5.3:2 5.4:3
	6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.5:5
	11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3`

// TestEveryRequirementIsAnswered keeps the checklist whole.
func TestEveryRequirementIsAnswered(t *testing.T) {
	t.Parallel()
	answered := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([0-9., ]+) \|`).FindAllStringSubmatch(textOf(t, "docs", "security.md"), -1) {
		for number := range strings.SplitSeq(row[1], ", ") {
			answered[number] = true
		}
	}
	for _, section := range strings.Fields(asvsSections) {
		name, count, _ := strings.Cut(section, ":")
		last, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		for n := range last {
			if number := name + "." + strconv.Itoa(n+1); !answered[number] {
				t.Errorf("docs/security.md does not answer %s", number)
			}
		}
	}
}

// TestEveryRequirementIsShownOrExplained keeps claims that nothing shows out of the
// checklist.
func TestEveryRequirementIsShownOrExplained(t *testing.T) {
	t.Parallel()
	explained := regexp.MustCompile(`^(does not apply|do not apply|open|not met)\b`)
	rows := regexp.MustCompile(`(?m)^\| ([0-9., ]+) \| (.*?) \| (.*?) ?\|$`).FindAllStringSubmatch(textOf(t, "docs", "security.md"), -1)
	for _, row := range rows {
		if !explained.MatchString(row[2]) && !strings.Contains(row[3], "Test") {
			t.Errorf("docs/security.md: %s names no test, nor why it does not apply or is not met", row[1])
		}
	}
	if len(rows) == 0 {
		t.Error("docs/security.md has no requirement")
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
