//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processorTime is what a process has had of the processors since it began, 0 where that
// cannot be read: only Linux has these files.
func processorTime(pid int) (used time.Duration) {
	fields := processFields(pid)
	const user, system, tick = 11, 12, 10 * time.Millisecond
	for _, place := range []int{user, system} {
		if place < len(fields) {
			ticks, _ := strconv.Atoi(fields[place])
			used += time.Duration(ticks) * tick
		}
	}
	return used
}

// processFields are what the system tells of a process, from its state on, nothing where it has ended.
func processFields(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The name of the program stands in brackets before, and may hold anything.
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// ownProcessorTime is what this process has had of them.
func ownProcessorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
