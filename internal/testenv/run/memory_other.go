//go:build unix && !linux

package main

import "os"

// dataFolder is where the servers and the tests keep their files.
func dataFolder() string { return os.TempDir() }
