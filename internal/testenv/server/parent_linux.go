package server

import "syscall"

// endWithParent has the kernel end the server when we die without stopping
// it, so that a killed test run leaves no server behind. On SIGQUIT PostgreSQL
// gives its shared memory back and ends at once, and Redis simply ends.
func endWithParent(attributes *syscall.SysProcAttr) {
	attributes.Pdeathsig = syscall.SIGQUIT
}
