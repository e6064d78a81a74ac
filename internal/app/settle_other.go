//go:build !linux

package app

import "runtime/debug"

// settleDown gives back the heap that only the start needed.
func settleDown() { debug.FreeOSMemory() }
