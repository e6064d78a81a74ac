//go:build unix

package server

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged prepares a command in folder that does not run as root, and
// gives the folder to the user it runs as.
func unprivileged(folder, program string, arguments ...string) (*exec.Cmd, error) {
	command := exec.Command(program, arguments...)
	command.Dir = folder
	command.SysProcAttr = &syscall.SysProcAttr{}
	// Messages are shown to whoever reads the test log: one language for all.
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	if os.Geteuid() != 0 {
		return command, nil
	}
	credential, err := serverUser()
	if err != nil {
		return nil, err
	}
	if err := os.Chown(folder, int(credential.Uid), int(credential.Gid)); err != nil {
		return nil, err
	}
	command.SysProcAttr.Credential = credential
	return command, nil
}

// serverUser is the account that servers run as when we are root.
func serverUser() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(account.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(account.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("running as root, and there is neither a user postgres nor nobody to run the servers as")
}
