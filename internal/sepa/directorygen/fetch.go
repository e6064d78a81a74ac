package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pin fixes one input to the byte.
type pin struct {
	name     string
	version  string
	file     string // the name that the client gives to the download
	sha256   string
	download func(pin pin, folder string) error
	unpack   func(archive, folder string) error
}

var pins = []pin{
	{
		name: "python3-schwifty", version: "2025.09.0+dfsg-1",
		file:     "python3-schwifty_2025.09.0+dfsg-1_all.deb",
		sha256:   "7e19f46c96fc6ef36383fd516fec34b5f15c66191af88f5254ba5014da5866de",
		download: downloadDebian, unpack: unpackDebian,
	},
	{
		name: "bankdata-germany", version: "2.2602.0",
		file:     "bankdata-germany-2.2602.0.tgz",
		sha256:   "00c564493a0240a8c247ced150620e0a59e545142c0729867e5f093451564e1e",
		download: downloadNPM, unpack: unpackTarball,
	},
	{
		name: "iban-to-bic", version: "1.4.0",
		file:     "iban-to-bic-1.4.0.tgz",
		sha256:   "934d73806e6af34996e2c4ba8f67108557e5612a85952b6f64b3bac0241dd143",
		download: downloadNPM, unpack: unpackTarball,
	},
}

// prepare brings the package, checked and unpacked, into a new folder.
func (p pin) prepare(inputs, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if inputs == "" {
		inputs = folder
		if err := p.download(p, folder); err != nil {
			return err
		}
	}
	archive, err := filepath.Abs(filepath.Join(inputs, p.file))
	if err != nil {
		return err
	}
	content, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != p.sha256 {
		return fmt.Errorf("%s has the checksum %x, pinned is %s", p.file, sum, p.sha256)
	}
	return p.unpack(archive, folder)
}

func downloadNPM(p pin, folder string) error {
	return run(folder, "npm", "pack", "--silent", p.name+"@"+p.version)
}

func unpackTarball(archive, folder string) error {
	return run(folder, "tar", "-xzf", archive)
}

func unpackDebian(archive, folder string) error {
	return run(folder, "dpkg-deb", "-x", archive, folder)
}

// downloadDebian asks the machine's Debian mirror for a package of the unstable suite. Everything that apt remembers goes
// into the given folder, so that the machine's own package lists stay as they are.
func downloadDebian(p pin, folder string) error {
	mirror, err := debianMirror()
	if err != nil {
		return err
	}
	state := filepath.Join(folder, "apt")
	for _, name := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(state, name), 0o755); err != nil {
			return err
		}
	}
	sources := "deb " + mirror + " sid main\n"
	if err := os.WriteFile(filepath.Join(state, "sources.list"), []byte(sources), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(state, "status"), nil, 0o644); err != nil {
		return err
	}
	options := []string{
		"-qq",
		"-o", "Dir::Etc::sourcelist=" + filepath.Join(state, "sources.list"),
		"-o", "Dir::Etc::sourceparts=/dev/null",
		"-o", "Dir::State::lists=" + filepath.Join(state, "lists"),
		"-o", "Dir::State::status=" + filepath.Join(state, "status"),
		"-o", "Dir::Cache=" + state,
		"-o", "Dir::Cache::archives=" + filepath.Join(state, "archives"),
		"-o", "APT::Sandbox::User=root", // the folder is this user's alone, apt's own user could not write into it
	}
	if err := run(folder, "apt-get", append(options, "update")...); err != nil {
		return err
	}
	return run(folder, "apt-get", append(options, "download", p.name+"="+p.version)...)
}

// debianMirror finds the mirror from which this machine gets its own packages.
func debianMirror() (string, error) {
	listing, err := exec.Command("apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("apt-get indextargets: %w", err)
	}
	for line := range strings.Lines(string(listing)) {
		if mirror, found := strings.CutPrefix(strings.TrimSpace(line), "Debian Debian "); found {
			return mirror, nil
		}
	}
	return "", errors.New("apt knows no Debian mirror; \"apt-get update\" may help")
}

func run(folder, program string, arguments ...string) error {
	command := exec.Command(program, arguments...)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, output)
	}
	return nil
}
