package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// version is what a release is called and made of.
type version struct {
	number string // semantic
	commit string
	date   time.Time // of the commit
}

const dateLayout = time.RFC3339

func readVersion(root string) (version, error) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return version{}, err
	}
	commit, err := git(root, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return version{}, err
	}
	when, err := git(root, "show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return version{}, err
	}
	date, err := time.Parse(time.RFC3339, when)
	if err != nil {
		return version{}, err
	}
	v := version{commit: commit, date: date.UTC()}
	v.number, err = numberOf(string(text), v)
	return v, err
}

func git(root string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

var heading = regexp.MustCompile(`(?m)^## (?:\[?(\d+)\.(\d+)\.(\d+)\]?|Unreleased)\b.*$`)

var errNoVersion = errors.New(`CHANGELOG.md has neither "## Unreleased" nor a version such as "## 1.2.0"`)

// numberOf is the newest version of a changelog. What is not released yet comes before the
// version after it, and is told apart by its commit.
func numberOf(changelog string, v version) (string, error) {
	all := heading.FindAllStringSubmatch(changelog, -1)
	if len(all) == 0 {
		return "", errNoVersion
	}
	if first := all[0]; first[1] != "" {
		return first[1] + "." + first[2] + "." + first[3], nil
	}
	base := "0.1.0"
	if len(all) > 1 {
		patch, err := strconv.Atoi(all[1][3])
		if err != nil {
			return "", err
		}
		base = fmt.Sprintf("%s.%s.%d", all[1][1], all[1][2], patch+1)
	}
	return fmt.Sprintf("%s-dev.%s.g%s", base, v.date.Format("20060102150405"), v.commit), nil
}
