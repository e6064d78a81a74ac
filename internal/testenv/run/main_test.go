//go:build unix

package main_test

import (
	"bufio"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sepad/internal/testenv"
)

// goneWithin bounds the wait for a server to stop listening.
const goneWithin = 10 * time.Second

func TestRun(t *testing.T) {
	t.Parallel()
	testenv.PostgresURL(t) // under a plain go test the servers may not be installed
	program := filepath.Join(t.TempDir(), "run")
	if output, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}

	t.Run("the command finds both servers, its exit code is kept and nothing is left", func(t *testing.T) {
		t.Parallel()
		run := start(t, program, `echo "$SEPAD_TEST_POSTGRES_URL $SEPAD_TEST_REDIS_URL $SEPAD_TEST_REQUIRE"; read line; exit 7`)
		run.expectServing(t)
		run.input.Close()
		if code := run.wait(t); code != 7 {
			t.Errorf("exit code %d, want the command's 7", code)
		}
		run.expectNothingLeft(t)
	})

	t.Run("an interrupt ends the command and the servers", func(t *testing.T) {
		t.Parallel()
		run := start(t, program, `echo "$SEPAD_TEST_POSTGRES_URL $SEPAD_TEST_REDIS_URL $SEPAD_TEST_REQUIRE"; exec sleep 600`)
		run.expectServing(t)
		if err := run.command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if code := run.wait(t); code != 128+int(syscall.SIGINT) {
			t.Errorf("exit code %d, want that of an interrupted command", code)
		}
		run.expectNothingLeft(t)
	})

	t.Run("servers end with a killed run", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("only Linux ends a child with its parent")
		}
		run := start(t, program, `echo "$SEPAD_TEST_POSTGRES_URL $SEPAD_TEST_REDIS_URL $SEPAD_TEST_REQUIRE"; read line`)
		run.expectServing(t)
		if err := run.command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		run.wait(t)
		run.expectUnreachable(t)
	})

	t.Run("no command is wrong usage", func(t *testing.T) {
		t.Parallel()
		output, err := exec.Command(program, "--").CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(output), "usage:") {
			t.Errorf("ended with %v: %s", err, output)
		}
	})
}

// running is a run whose command prints the environment it was given.
type running struct {
	command   *exec.Cmd
	input     interface{ Close() error }
	output    *bufio.Reader
	folder    string
	addresses []string
}

func start(t *testing.T, program, script string) *running {
	t.Helper()
	// Servers run as another user, who must be able to reach the folder: the
	// one that t.TempDir gives is private to us.
	folder, err := os.MkdirTemp("", "sepad-run-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o711); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "--", "sh", "-c", script)
	command.Env = append(os.Environ(), "TMPDIR="+folder)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return &running{command: command, input: input, output: bufio.NewReader(output), folder: folder}
}

// expectServing reads the environment line and connects to both servers.
func (r *running) expectServing(t *testing.T) {
	t.Helper()
	line, err := r.output.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[2] != "1" {
		t.Fatalf("environment is not complete: %q", line)
	}
	for _, field := range fields[:2] {
		address, err := url.Parse(field)
		if err != nil {
			t.Fatal(err)
		}
		if !listening(address.Host) {
			t.Errorf("nothing listens at %s", address.Host)
		}
		r.addresses = append(r.addresses, address.Host)
	}
}

func (r *running) wait(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := r.command.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return r.command.ProcessState.ExitCode()
}

func (r *running) expectNothingLeft(t *testing.T) {
	t.Helper()
	for _, address := range r.addresses {
		if listening(address) {
			t.Errorf("something still listens at %s", address)
		}
	}
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Errorf("left behind: %s", entry.Name())
	}
}

// expectUnreachable allows the kernel a moment to end the servers.
func (r *running) expectUnreachable(t *testing.T) {
	t.Helper()
	deadline := time.After(goneWithin)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for _, address := range r.addresses {
		for listening(address) {
			select {
			case <-deadline:
				t.Fatalf("something still listens at %s", address)
			case <-tick.C:
			}
		}
	}
}

func listening(address string) bool {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	connection.Close()
	return true
}
