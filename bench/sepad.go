//go:build unix

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	readyPath = "/readyz"
	// encryptionKeyBytes is what sepad asks for.
	encryptionKeyBytes = 32
	adminToken         = "bench-admin-token-of-no-use"
)

// benchKey encrypts what nobody has to hide.
var benchKey = "bench:" + base64.StdEncoding.EncodeToString(make([]byte, encryptionKeyBytes))

// sepadSettings are those of an installation behind a proxy. The proxy is us:
// the client addresses that we name are believed, so that limits per address
// are in force and do not add up to one.
func sepadSettings(databaseURL, address string) []string {
	return []string{
		"SEPAD_ENVIRONMENT=sandbox",
		"SEPAD_LISTEN=" + address,
		"SEPAD_PUBLIC_URL=http://" + address,
		"SEPAD_DATABASE_URL=" + databaseURL,
		"SEPAD_ENCRYPTION_KEYS=" + benchKey,
		"SEPAD_TRUSTED_PROXIES=127.0.0.1/32",
		"SEPAD_ADMIN_TOKEN=" + adminToken,
		"SEPAD_WEBHOOK_ALLOW_PRIVATE=true", // the receiver is on this machine
		"SEPAD_LOG_FORMAT=json",
		"SEPAD_RATE_IBAN_VALIDATE=500", // one key in 512 is asked with 34 times a second on average, and now and then above the usual 50
	}
}

// startSepad starts a server on a database; nobody has been told of it yet.
func (l *lab) startSepad(ctx context.Context, databaseURL, folder string) (*process, error) {
	program, err := l.sepadProgram(ctx)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return startProcess(program, address, filepath.Join(folder, "sepad.log"), sepadSettings(databaseURL, address), "serve")
}

// runSepad runs one of the short commands.
func (l *lab) runSepad(ctx context.Context, databaseURL string, arguments ...string) error {
	program, err := l.sepadProgram(ctx)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = append(sepadSettings(databaseURL, "127.0.0.1:0"), "PATH="+os.Getenv("PATH"))
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("sepad %s: %w\n%s", arguments[0], err, output)
	}
	return nil
}

// openSepad prepares a database, sets the shop up in it and starts a server.
func (l *lab) openSepad(ctx context.Context, databaseURL string) (*process, *shop, error) {
	s, err := l.openShop()
	if err != nil {
		return nil, nil, err
	}
	for _, command := range [][]string{{"migrate"}, {"apply", "-f", s.path}} {
		if err := l.runSepad(ctx, databaseURL, command...); err != nil {
			return nil, nil, err
		}
	}
	folder, err := l.subfolder("sepad")
	if err != nil {
		return nil, nil, err
	}
	server, err := l.startSepad(ctx, databaseURL, folder)
	if err != nil {
		return nil, nil, err
	}
	_, err = server.awaitReady(ctx, readyPath)
	return server, s, err
}
