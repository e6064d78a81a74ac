//go:build unix && !linux

package server

import "syscall"

// endWithParent can promise nothing here: only Linux ties a child's life to
// its parent's.
func endWithParent(*syscall.SysProcAttr) {}
