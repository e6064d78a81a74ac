//go:build unix

package server

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// RedisDatabases is how many numbered databases a private Redis has.
const RedisDatabases = 1000

// Redis is a private Redis that keeps everything in memory.
type Redis struct {
	// URL names no database; "/7" appended to it leads to database 7.
	URL string

	process *process
}

// StartRedis starts a Redis in folder, which must exist.
func StartRedis(folder string) (*Redis, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("Redis server: %w", ErrNotInstalled)
	}
	redis := &Redis{}
	return redis, retryOnTakenPort(func(port int) error {
		return redis.start(folder, program, port)
	})
}

func (r *Redis) start(folder, program string, port int) error {
	process, err := launch(folder, program, "--bind", "127.0.0.1", "--port", strconv.Itoa(port),
		"--save", "", "--appendonly", "no", "--databases", strconv.Itoa(RedisDatabases))
	if err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	r.process, r.URL = process, "redis://"+address
	return process.awaitReady(func() error { return pingRedis(address) })
}

// pingRedis speaks the protocol by hand: a client library would pool, retry
// and log, where one line each way is all there is to say.
func pingRedis(address string) error {
	connection, err := net.DialTimeout("tcp", address, startPatience)
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := connection.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		return err
	}
	if strings.TrimSpace(answer) != "+PONG" {
		return fmt.Errorf("redis is not ready: %s", strings.TrimSpace(answer))
	}
	return nil
}

// Stop ends the Redis. A test of what happens when Redis goes away stops one
// of its own.
func (r *Redis) Stop() {
	r.process.stop(syscall.SIGTERM)
}
