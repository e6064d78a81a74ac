package main

import (
	"os"
	"syscall"
)

const (
	memory = "/dev/shm"
	// memoryRoom is what must be free there: some four times what a run of every test
	// has at its peak. Containers often have 64 MB.
	memoryRoom = 2 << 30
)

// dataFolder is where the servers and the tests keep their files: in memory where
// there is room. Every test has a database of its own, some six hundred files that
// are copied and removed again; on a disk that was most of what the tests cost.
// Who names a folder (TMPDIR) gets it.
func dataFolder() string {
	var room syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &room) != nil || room.Bavail*uint64(room.Bsize) < memoryRoom {
		return os.TempDir()
	}
	return memory
}
