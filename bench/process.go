//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	startPatience = 30 * time.Second
	stopPatience  = 10 * time.Second
	// askEvery is how often a starting server is asked whether it is ready: a
	// small part of what the fastest start takes.
	askEvery = time.Millisecond
)

// process is a server that we have started.
type process struct {
	command *exec.Cmd
	address string
	logPath string
	began   time.Time
	ended   chan struct{}
}

// startProcess runs a program with exactly the given environment, its output in
// a file: writing a log is part of what a server does.
func startProcess(program, address, logPath string, environment []string, arguments ...string) (*process, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := exec.Command(program, arguments...)
	command.Env = environment
	command.Stdout, command.Stderr = log, log
	// A group of its own, so that Ctrl-C reaches us first and we stop it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &process{command: command, address: address, logPath: logPath, began: time.Now(), ended: make(chan struct{})}
	if err := command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = command.Wait() // how a server ended is told by its log
	}()
	return p, nil
}

// ownListen tells a server of this program where to listen.
const ownListen = "BENCH_LISTEN"

// startOwn starts one of this program's own servers, in a process of its own.
func (l *lab) startOwn(ctx context.Context, command string, environment ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	folder, err := l.subfolder(command)
	if err != nil {
		return nil, err
	}
	server, err := startProcess(self, address, filepath.Join(folder, "log"), append(environment, ownListen+"="+address), command)
	if err != nil {
		return nil, err
	}
	_, err = server.awaitReady(ctx, "/")
	return server, err
}

// stop ends the server, gently at first.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	select {
	case <-p.ended:
	case <-time.After(stopPatience):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

// complaints are the first lines of the log that are warnings or worse.
func (p *process) complaints() string {
	log, err := os.Open(p.logPath)
	if err != nil {
		return err.Error()
	}
	defer log.Close()
	const most = 20
	var found []string
	for lines := bufio.NewScanner(log); lines.Scan() && len(found) < most; {
		if line := lines.Text(); strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "\n")
}

// awaitReady asks for a path until it answers 200, and tells how long that was
// after the start. The process is stopped when it never does.
func (p *process) awaitReady(ctx context.Context, path string) (took time.Duration, err error) {
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		if err = askOnce(p.address, path); err == nil {
			return time.Since(p.began), nil
		}
		select {
		case <-p.ended:
			return 0, fmt.Errorf("%s ended while starting:\n%s", p.command.Path, p.log())
		case <-ctx.Done():
			return 0, fmt.Errorf("%s is not ready: %w\n%s", p.command.Path, errors.Join(err, ctx.Err()), p.log())
		case <-tick.C:
		}
	}
}

func (p *process) log() string {
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	const enough = 4000
	return string(text[:min(len(text), enough)])
}

// askOnce takes a connection of its own: there may be nobody there yet.
func askOnce(address, path string) error {
	connection, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(startPatience)); err != nil {
		return err
	}
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, address)
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, answer.Status)
	}
	return nil
}

// freeAddress is a port of the loopback interface that nobody uses.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// ownMemory is what the process holds for itself, in megabytes. Pages of the
// program's file are not in it: the system keeps them for all, and drops them at will.
func (p *process) ownMemory() (float64, error) { return p.memory("RssAnon:") }

// peakMemory is the most that it has held.
func (p *process) peakMemory() (float64, error) { return p.memory("VmHWM:") }

func (p *process) memory(name string) (float64, error) {
	kilobytes := memoryOf(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid), name)
	if kilobytes == 0 {
		return 0, fmt.Errorf("the memory of a process can be read on Linux only: %w", errMissing)
	}
	return float64(kilobytes) / kilo, nil
}
