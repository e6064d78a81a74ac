//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"sepad/internal/testenv/server"
)

// lab is the place of a run: a folder that is removed at its end, and what
// several rows share, made when the first of them asks for it.
type lab struct {
	folder string
	full   bool
	began  time.Time

	sepad      string
	pocketBase string
	cluster    *server.Postgres
	shop       *shop
}

func openLab(full bool) (*lab, error) {
	folder, err := os.MkdirTemp("", "sepad-bench-")
	if err != nil {
		return nil, err
	}
	// PostgreSQL's own user needs to pass through this folder to its cluster.
	if err := os.Chmod(folder, 0o711); err != nil {
		return nil, err
	}
	return &lab{folder: folder, full: full, began: time.Now()}, nil
}

func (l *lab) close() {
	if l.cluster != nil {
		l.cluster.Stop()
	}
	os.RemoveAll(l.folder)
}

// say tells what is going on, on standard error: standard output is the table.
func (l *lab) say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(l.began).Seconds(), fmt.Sprintf(format, values...))
}

// rounds is how many are counted, fewer where ROUNDS asks for a quick look. They are many and short rather than few and
// long: what else the machine does then hits both sides of a round alike.
func (l *lab) rounds() int {
	const short, full = 20, 60
	if wanted, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil && wanted > 0 {
		return wanted
	}
	if l.full {
		return full
	}
	return short
}

// roundTime is how long one side of a round lasts where time is what ends it, in
// whole seconds, because pgbench knows no others.
func (l *lab) roundTime() time.Duration {
	const short, full = time.Second, 2 * time.Second
	if l.full {
		return full
	}
	return short
}

// subfolder makes an empty folder for one purpose.
func (l *lab) subfolder(purpose string) (string, error) {
	return os.MkdirTemp(l.folder, purpose+"-")
}

// sepadProgram builds the program as a release is built.
func (l *lab) sepadProgram(ctx context.Context) (string, error) {
	if l.sepad == "" {
		l.say("building sepad")
		path := filepath.Join(l.folder, "sepad")
		if err := goBuild(ctx, ".", path, "./cmd/sepad"); err != nil {
			return "", err
		}
		l.sepad = path
	}
	return l.sepad, nil
}

// pocketBaseProgram builds PocketBase's own program, the one that its project
// hands out, from the module of the peers.
func (l *lab) pocketBaseProgram(ctx context.Context) (string, error) {
	if l.pocketBase == "" {
		l.say("building PocketBase (minutes, the first time)")
		path := filepath.Join(l.folder, "pocketbase")
		if err := goBuild(ctx, "bench/peers", path, "github.com/pocketbase/pocketbase/examples/base"); err != nil {
			return "", err
		}
		l.pocketBase = path
	}
	return l.pocketBase, nil
}

func goBuild(ctx context.Context, module, target, pack string) error {
	build := exec.CommandContext(ctx, "go", "build", "-C", module, "-trimpath", "-ldflags", "-s -w", "-o", target, pack)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pack, err, output)
	}
	return nil
}
