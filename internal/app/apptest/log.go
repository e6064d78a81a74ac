package apptest

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// log is what a server writes while it runs.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Log is what the server has logged so far.
func (s *Server) Log() string { return s.log.String() }

// private is what no line may hold, by its shape: account numbers, addresses,
// names of our test people, tokens beyond their first 7 characters, API keys.
var private = regexp.MustCompile(strings.Join([]string{
	`\b[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}\b`,
	`[^\s"]+@[^\s"]+\.[^\s"]+`,
	FirstName, LastName,
	`ps_[A-Za-z0-9_-]{5,}`,
	`rk_(?:test|live)_[A-Za-z0-9_-]{6,}`,
	regexp.QuoteMeta(AdminToken),
}, "|"))

func (l *log) check(t testing.TB) {
	t.Helper()
	for line := range strings.Lines(l.String()) {
		if found := private.FindString(line); found != "" {
			t.Errorf("the log gives away %q in %s", found, line)
		}
	}
}
