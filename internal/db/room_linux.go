package db

import "golang.org/x/sys/unix"

// roomOf is how many bytes we may still write to the disk of a file.
func roomOf(path string) (bytes uint64, known bool) {
	var disk unix.Statfs_t
	if err := unix.Statfs(path, &disk); err != nil || disk.Bsize <= 0 {
		return 0, false
	}
	return disk.Bavail * uint64(disk.Bsize), true
}
