//go:build unix

package server

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Leading are settings for a cluster that a standby follows.
var Leading = map[string]string{"fsync": "off", "wal_level": "replica", "max_wal_senders": "4"}

// StartStandby makes a standby of a cluster that has the settings Leading, in a folder that must exist and be empty.
func (c *Postgres) StartStandby(folder string) (*Postgres, error) {
	binaries, err := postgresBinaries()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(folder, "data")
	address, _, _ := strings.Cut(c.URL, "/postgres?")
	command, err := unprivileged(folder, filepath.Join(binaries, "pg_basebackup"), "--pgdata="+data, "--dbname="+address,
		"--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	if err != nil {
		return nil, err
	}
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pg_basebackup: %w\n%s", err, output)
	}
	return serve(folder, data, filepath.Join(binaries, "postgres"), Leading)
}
