package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepApart has everything that this process has started, and will start, work on all processors but one. That one is for
// those who call: where sepad is used they are elsewhere, and what it costs them to be refused is not the server's loss.
// On a machine with one processor nobody is kept apart. Rejoin ends it.
func keepApart() (callers *int, rejoin func() error, err error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, nil, err
	}
	if all.Count() < 2 {
		return nil, func() error { return nil }, nil
	}
	last := 0
	for processor := range len(all) * strconv.IntSize {
		if all.IsSet(processor) {
			last = processor
		}
	}
	servers := all
	servers.Clear(last)
	return &last, func() error { return confine(all) }, confine(servers)
}

// stayOn has this process work on one processor.
func stayOn(processor int) error {
	var one unix.CPUSet
	one.Set(processor)
	return errors.Join(pin(os.Getpid(), one)...)
}

// confine has this process and its descendants work on some processors. What they start inherits it.
func confine(processors unix.CPUSet) error {
	parents, err := parentsOfAll()
	if err != nil {
		return err
	}
	var failures []error
	for pid := range parents {
		for ancestor := pid; ancestor != 0; ancestor = parents[ancestor] {
			if ancestor == os.Getpid() {
				failures = append(failures, pin(pid, processors)...)
				break
			}
		}
	}
	return errors.Join(failures...)
}

// pin has every thread of a process work on some processors. A thread that has ended needs none.
func pin(pid int, processors unix.CPUSet) (failures []error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return []error{err}
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(filepath.Base(thread))
		if err == nil {
			err = unix.SchedSetaffinity(id, &processors)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) {
			failures = append(failures, fmt.Errorf("giving %s its processors: %w", thread, err))
		}
	}
	return failures
}

// parentsOfAll are the parents of all processes that there are.
func parentsOfAll() (map[int]int, error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	parents := make(map[int]int, len(folders))
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		const parent = 1
		if fields := processFields(pid); len(fields) > parent {
			parents[pid], _ = strconv.Atoi(fields[parent]) // the system writes numbers
		}
	}
	return parents, err
}
