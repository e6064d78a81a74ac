//go:build unix

// Command run starts a private PostgreSQL and a private Redis, runs a command
// that finds their addresses in its environment, and stops them again:
//
//	run -- go test ./...
//
// Their data and the command's temporary files are in one folder, in memory where
// there is room.
//
// It ends with the exit code of the command. An interrupt is passed on to the
// command and all that it has started; the servers are stopped and their folder
// is removed afterwards, whichever way the command ended.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"sepad/internal/testenv"
	"sepad/internal/testenv/server"
)

// interruptPatience is how long an interrupted command may tidy up.
const interruptPatience = 10 * time.Second

const usageCode = 2

func main() {
	command := os.Args[1:]
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		fmt.Fprintln(os.Stderr, "usage: run -- COMMAND [ARGUMENT...]")
		os.Exit(usageCode)
	}
	code, err := runWithServers(command)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
	}
	os.Exit(code)
}

// runWithServers returns the code to exit with, and an error when something
// other than the command failed.
func runWithServers(command []string) (int, error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	folder, err := os.MkdirTemp(dataFolder(), "sepad-test-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	servers, err := startServers(folder)
	defer servers.stop()
	if err != nil {
		return 1, err
	}
	files, err := subfolder(folder, "files", 0o711)
	if err != nil {
		return 1, err
	}
	return runCommand(command, append(os.Environ(),
		// What go builds is large and stays where it would be.
		"GOTMPDIR="+cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir()),
		"TMPDIR="+files,
		testenv.PostgresVariable+"="+servers.postgres.URL,
		testenv.SessionsVariable+"="+servers.sessions.URL,
		testenv.RedisVariable+"="+servers.redis.URL,
		testenv.RequireVariable+"=1",
	), interrupts)
}

// servers are those of a run, nil where one has not started.
type servers struct {
	postgres *server.Postgres
	sessions *server.Sessions
	redis    *server.Redis
}

// startServers starts PostgreSQL and Redis at once. What has started is returned with an error
// too, for the caller to stop.
func startServers(folder string) (*servers, error) {
	all := &servers{}
	// The servers' user needs to pass through this folder to its own.
	if err := os.Chmod(folder, 0o711); err != nil {
		return all, err
	}
	var starting errgroup.Group
	starting.Go(func() error { return all.startPostgres(folder) })
	starting.Go(func() error {
		home, err := subfolder(folder, "redis", 0o700)
		if err != nil {
			return err
		}
		started, err := server.StartRedis(home)
		if err == nil {
			all.redis = started
		}
		return err
	})
	return all, starting.Wait()
}

func (s *servers) startPostgres(folder string) error {
	home, err := subfolder(folder, "postgres", 0o700)
	if err != nil {
		return err
	}
	started, err := server.StartPostgres(home, server.Disposable)
	if err != nil {
		return err
	}
	s.postgres = started
	if home, err = subfolder(folder, "sessions", 0o700); err != nil {
		return err
	}
	sessions, err := server.StartSessions(home, started.URL)
	if err == nil {
		s.sessions = sessions
	}
	return err
}

func subfolder(folder, name string, mode os.FileMode) (string, error) {
	path := filepath.Join(folder, name)
	return path, os.Mkdir(path, mode)
}

func (s *servers) stop() {
	if s.sessions != nil {
		s.sessions.Stop()
	}
	if s.postgres != nil {
		s.postgres.Stop()
	}
	if s.redis != nil {
		s.redis.Stop()
	}
}

// runCommand runs the command as the head of a process group, so that an
// interrupt reaches everything below it: go test runs test binaries, and those
// run sepad.
func runCommand(arguments, environment []string, interrupts <-chan os.Signal) (int, error) {
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Env = environment
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return 1, err
	}
	group := -command.Process.Pid
	// Whatever a test has left running must not outlive the run.
	defer syscall.Kill(group, syscall.SIGKILL)
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var patience <-chan time.Time
	for {
		select {
		case err := <-ended:
			return exitCode(err)
		case interrupt := <-interrupts:
			_ = syscall.Kill(group, interrupt.(syscall.Signal)) // an error means that it is ending anyway
			patience = time.After(interruptPatience)
		case <-patience:
			_ = syscall.Kill(group, syscall.SIGKILL)
		}
	}
}

// exitCode is what a shell would report: 128 and the number for a signal.
func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return 1, err
		}
		return 0, nil
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
