//go:build unix

package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	startPatience = 60 * time.Second
	stopPatience  = 20 * time.Second
	probeInterval = 20 * time.Millisecond
	startTries    = 5
)

// process is a server program that runs beside us until it is stopped.
type process struct {
	command *exec.Cmd
	logPath string
	ended   chan struct{}
}

// launch starts program in folder, with its output in a log file there.
func launch(folder, program string, arguments ...string) (*process, error) {
	logPath := filepath.Join(folder, filepath.Base(program)+".log")
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command, err := unprivileged(folder, program, arguments...)
	if err != nil {
		return nil, err
	}
	command.Stdout, command.Stderr = log, log
	// A group of its own: Ctrl-C on the terminal reaches the tests first, and
	// the servers outlive them for as long as Stop takes to come.
	command.SysProcAttr.Setpgid = true
	endWithParent(command.SysProcAttr)
	p := &process{command: command, logPath: logPath, ended: make(chan struct{})}
	return p, p.start()
}

// start runs the command and watches it from one locked thread: the kernel
// takes the death of the thread that started a child for the parent's.
func (p *process) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		err := p.command.Start()
		started <- err
		if err == nil {
			_ = p.command.Wait() // how a server ended is told by its log
		}
	}()
	return <-started
}

// awaitReady probes until the server answers, has ended or patience is over.
func (p *process) awaitReady(probe func() error) error {
	deadline := time.After(startPatience)
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for {
		err := probe()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended while starting:\n%s", p.command.Path, p.log())
		case <-deadline:
			p.stop(syscall.SIGKILL)
			return fmt.Errorf("%s did not answer within %s: %w\n%s", p.command.Path, startPatience, err, p.log())
		case <-tick.C:
		}
	}
}

func (p *process) log() string {
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// stop sends signal and, when that does not end the server, kills it.
func (p *process) stop(signal syscall.Signal) {
	_ = p.command.Process.Signal(signal) // an error means that it has already ended
	select {
	case <-p.ended:
	case <-time.After(stopPatience):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

// retryOnTakenPort runs start with one free port after another: between
// finding a port and listening on it, someone else may take it.
func retryOnTakenPort(start func(port int) error) error {
	var failures []error
	for range startTries {
		port, err := freePort()
		if err != nil {
			return err
		}
		if err = start(port); err == nil {
			return nil
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
