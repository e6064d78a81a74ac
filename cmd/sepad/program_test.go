package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"sepad/internal/testenv/browser"
)

// binary is the program as an operator has it, built once.
var binary string

func TestMain(m *testing.M) {
	if os.Getenv(aheadVariable) != "" {
		os.Exit(runWithWrongClock())
	}
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		os.Exit(m.Run()) // whoever asks for names needs no program
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "sepad-cmd-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "sepad")
	build := exec.Command("go", "build", "-ldflags", "-s -w -X main.version=v1.2.3-test", "-o", binary, ".")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, output)
		return 1
	}
	return browser.Main(m)
}

// command prepares a call of the program in a folder, with these settings and
// none of the machine's.
func command(t *testing.T, folder string, settings []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = folder
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "SEPAD_") && !strings.HasPrefix(variable, "GOGC=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, settings...)
	return cmd
}

type result struct {
	stdout, stderr string
	code           int
}

func execute(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// sepad calls a short command on the data of a folder.
func sepad(t *testing.T, folder string, args ...string) result {
	t.Helper()
	return execute(t, command(t, folder, nil, args...))
}

func mustSepad(t *testing.T, folder string, args ...string) string {
	t.Helper()
	r := sepad(t, folder, args...)
	if r.code != 0 {
		t.Fatalf("sepad %v: exit %d\n%s", args, r.code, r.stderr)
	}
	return r.stdout
}

// expectOneLine holds a failure to one line on standard error.
func expectOneLine(t *testing.T, r result, code int, want string) {
	t.Helper()
	if r.code != code || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, want) {
		t.Errorf("want exit %d and one line with %q, got exit %d and\n%s", code, want, r.code, r.stderr)
	}
}

// running is a sepad that serves.
type running struct {
	t       *testing.T
	cmd     *exec.Cmd
	log     *lockedBuffer
	welcome string
	url     string
	key     string
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// startDev starts sepad dev on a free port and reads its welcome.
func startDev(t *testing.T, folder string, settings []string, args ...string) *running {
	t.Helper()
	return welcomed(t, command(t, folder, settings, append([]string{"dev", "--listen", "127.0.0.1:0"}, args...)...))
}

// welcomed starts what was prepared and reads its welcome.
func welcomed(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	s := &running{t: t, cmd: cmd, log: &lockedBuffer{}}
	cmd.Stderr = s.log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.begin()
	s.welcome = readUntil(stdout, "Ctrl-C stops.")
	s.url = firstMatch(s.welcome, `API +(http://\S+)/api/v1/`)
	s.key = firstMatch(s.welcome, `API key +(\S+)`)
	if s.url == "" || s.key == "" {
		t.Fatalf("no welcome:\n%s\n%s", s.welcome, s.log)
	}
	return s
}

// startServe starts sepad serve on a free port and waits until it is ready.
func startServe(t *testing.T, folder string, settings []string, args ...string) *running {
	t.Helper()
	cmd := command(t, folder, settings, append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json"}, args...)...)
	s := &running{t: t, cmd: cmd, log: &lockedBuffer{}}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.begin()
	log := readUntil(stderr, `"msg":"ready"`)
	s.url = firstMatch(log, `"public_url":"([^"]+)"`)
	if s.url == "" {
		t.Fatalf("not ready:\n%s", log)
	}
	_, _ = s.log.Write([]byte(log))
	go func() { _, _ = io.Copy(s.log, stderr) }()
	return s
}

func (s *running) begin() {
	s.t.Helper()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
}

// stop asks the server to end and expects that it does so properly.
func (s *running) stop(signal syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatalf("after %v: %v\n%s", signal, err, s.log)
	}
}

func readUntil(r io.Reader, last string) string {
	var text strings.Builder
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), last) {
			break
		}
	}
	return text.String()
}

func firstMatch(text, pattern string) string {
	if found := regexp.MustCompile(pattern).FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// call makes a request and gives status and body.
func (s *running) call(method, path, bearer, body string) (int, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// create makes a session of the demo shop for a customer.
func (s *running) create(key, customer string) (status int, token string) {
	s.t.Helper()
	status, body := s.call(http.MethodPost, "/api/v1/payment-sessions/", key, fmt.Sprintf(
		`{"campaign_id": "018f0000-0000-7000-8000-000000000053", "lead": {"first_name": "Ada", "last_name": "Byron",
		"email": "%s@shop.example", "country": "DE"}}`, customer))
	return status, firstMatch(body, `"session_token":"([^"]+)"`)
}

// expectOK expects that a path is answered.
func (s *running) expectOK(path string) {
	s.t.Helper()
	if status, body := s.call(http.MethodGet, path, "", ""); status != http.StatusOK {
		s.t.Errorf("GET %s: %d: %s", path, status, body)
	}
}
