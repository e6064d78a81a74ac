package db

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// giveUpUnacknowledged has the kernel give a connection up whose peer acknowledges nothing for some seconds.
func giveUpUnacknowledged(network, _ string, connection syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := connection.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unacknowledged.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
