package sepad_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// file is any file of the project.
type file struct {
	path   string // from the root, with slashes
	folder string
	text   []byte
}

// source is a Go file.
type source struct {
	file
	set  *token.FileSet
	tree *ast.File
}

// finding is one broken rule.
type finding struct {
	where, rule, what string
}

func (f finding) String() string {
	return fmt.Sprintf("%s: [%s] %s", f.where, f.rule, f.what)
}

func newFile(name string, text []byte) file {
	return file{path: name, folder: path.Dir(name), text: text}
}

func parseSource(f file) (source, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
	return source{file: f, set: set, tree: tree}, err
}

func (f source) finding(pos token.Pos, rule, what string) finding {
	return finding{fmt.Sprintf("%s:%d", f.path, f.line(pos)), rule, what}
}

func (f source) line(pos token.Pos) int { return f.set.Position(pos).Line }

func (f source) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f source) isGenerated() bool { return ast.IsGenerated(f.tree) }

func (f file) under(folder string) bool {
	return f.folder == folder || strings.HasPrefix(f.folder, folder+"/")
}

// internalPackage is the package's path below internal/, or "".
func (f file) internalPackage() string {
	inner, ok := strings.CutPrefix(f.folder, "internal/")
	if !ok {
		return ""
	}
	return inner
}

// provider names the payment provider whose adapter a folder holds, or is "".
func provider(folder string) string {
	name, ok := strings.CutPrefix(folder, "internal/gateway/")
	if !ok || strings.Contains(name, "/") || name == "gatewaytest" || name == "adapters" {
		return ""
	}
	return name
}

// projectFiles reads the files of the project: those that git knows or would
// add. A copy without git is read as a whole.
func projectFiles(t *testing.T) []file {
	t.Helper()
	names := namesFromGit()
	if len(names) == 0 {
		names = namesFromFolder(t)
	}
	slices.Sort(names)
	var files []file
	for _, name := range slices.Compact(names) {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted, but still known to git
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, newFile(filepath.ToSlash(name), text))
	}
	if len(files) == 0 {
		t.Fatal("found no files to check")
	}
	return files
}

func namesFromGit() []string {
	list, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
}

func namesFromFolder(t *testing.T) (names []string) {
	t.Helper()
	built := []string{".git", ".sepad", "bin", "node_modules"}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains(built, entry.Name()) {
			return filepath.SkipDir
		}
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// projectSources parses the Go files.
func projectSources(t *testing.T, files []file) (sources []source) {
	t.Helper()
	for _, f := range files {
		if !strings.HasSuffix(f.path, ".go") || strings.Contains(f.path, "testdata/") {
			continue
		}
		parsed, err := parseSource(f)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		sources = append(sources, parsed)
	}
	return sources
}

// isText leaves fonts, images and the like alone.
func (f file) isText() bool { return !bytes.ContainsRune(f.text, 0) }
