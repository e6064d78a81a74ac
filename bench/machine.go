//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is what one needs to know to read the figures; nothing in it tells
// whose machine it was.
type machine struct {
	Cores    int    `json:"cores"`
	MemoryMB int    `json:"memory_mb"` // 0 where it cannot be read
	System   string `json:"system"`
	Go       string `json:"go"`
	// SyncMicros is how long the disk takes to keep one page.
	SyncMicros int `json:"sync_us"`
	// Load is the load average when the run began: above 0 others are at work.
	Load float64 `json:"load_average"`
}

// warning says that figures taken now are not worth keeping. Whoever runs more
// processes gets more of a machine that others use too, which favours our side:
// it has a server between the load and the database.
func (m machine) warning() string {
	const tolerable = 0.5
	if m.Load <= tolerable*float64(m.Cores) {
		return ""
	}
	return fmt.Sprintf("The machine was busy with other work when this began (load average %.1f on %d cores): do not rely on these figures.\n",
		m.Load, m.Cores)
}

func describeMachine(folder string) machine {
	return machine{
		Cores: runtime.NumCPU(), MemoryMB: memoryOf("/proc/meminfo", "MemTotal:") / kilo,
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		SyncMicros: int(measureSync(folder).Microseconds()), Load: loadAverage(),
	}
}

const kilo = 1024

func (m machine) String() string {
	return fmt.Sprintf("%d cores, %d MB, %s, %s, a page is synced to disk in %d µs, load average %.1f at the start",
		m.Cores, m.MemoryMB, m.System, m.Go, m.SyncMicros, m.Load)
}

// memoryOf reads a line such as "VmRSS:   1234 kB" and gives kilobytes, 0 when
// there is none: only Linux has these files.
func memoryOf(path, name string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.Atoi(fields[0])
	return kilobytes
}

func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	lastMinute, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(lastMinute, 64) // 0, that is unknown, when it is none
	return load
}

// measureSync is the median time of writing a page and waiting for the disk.
func measureSync(folder string) time.Duration {
	const tries, page = 50, 8192
	file, err := os.Create(filepath.Join(folder, "sync"))
	if err != nil {
		return 0
	}
	defer file.Close() // the file goes with the folder
	var times []float64
	for range tries {
		began := time.Now()
		if _, err := file.WriteAt(bytes.Repeat([]byte{1}, page), 0); err != nil {
			return 0
		}
		if err := file.Sync(); err != nil {
			return 0
		}
		times = append(times, float64(time.Since(began)))
	}
	return time.Duration(median(times))
}

// commitOfTree names the commit and whether the tree has changes of its own.
func commitOfTree(ctx context.Context) string {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "none"
	}
	name := strings.TrimSpace(string(commit))
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
	if err != nil || len(changes) > 0 {
		name += " with changes"
	}
	return name
}
