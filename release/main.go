// Command release makes what is published of a version, in dist/: static programs, deb and
// rpm, container images, the chart, a list of what is inside, and checksums.
//
//	version.go   the version, from the changelog; commit and date, from git
//	image.go     a container image from scratch, written without any daemon
//	inside.go    the list of modules (SBOM, CycloneDX) and the checksums
//
// The same commit gives the same bytes: times are the commit's, and nothing of the
// machine is written down. nfpm and helm are the project's own tools (make).
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platform is what a program is built for.
type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "-" + p.processor }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

func main() {
	folder := flag.String("dist", "dist", "where to put everything")
	only := flag.Bool("version", false, "print the version, commit and date alone")
	flag.Parse()
	v, err := readVersion(".")
	if err == nil && *only {
		fmt.Println(v.number, v.commit, v.date.Format(dateLayout))
		return
	}
	if err == nil {
		err = v.publish(*folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// publish makes everything anew.
func (v version) publish(dist string) error {
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	const readable = 0o755
	if err := os.MkdirAll(dist, readable); err != nil {
		return err
	}
	for _, p := range platforms {
		if err := v.build(dist, p); err != nil {
			return err
		}
		if err := writeInside(program(dist, p), v, p); err != nil {
			return err
		}
		if p.system != "linux" {
			continue
		}
		for _, kind := range []string{"deb", "rpm"} {
			if err := v.pack(dist, kind, p); err != nil {
				return err
			}
		}
		if err := v.writeImage(filepath.Join(dist, "sepad-image-"+p.processor+".tar"), program(dist, p), p); err != nil {
			return err
		}
	}
	if err := run(nil, "bin/helm", "package", "deploy/helm/sepad", "--version", v.number, "--app-version", v.number, "-d", dist); err != nil {
		return err
	}
	return writeChecksums(dist)
}

// program is where the program of a platform lies.
func program(dist string, p platform) string { return filepath.Join(dist, "sepad-"+p.String()) }

func (v version) build(dist string, p platform) error {
	flags := "-s -w -X main.version=" + v.number + " -X main.commit=" + v.commit + " -X main.date=" + v.date.Format(dateLayout)
	return run([]string{"CGO_ENABLED=0", "GOOS=" + p.system, "GOARCH=" + p.processor},
		"go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", program(dist, p), "./cmd/sepad")
}

// pack makes a package of a distribution.
func (v version) pack(dist, kind string, p platform) error {
	return run([]string{"ARCH=" + p.processor, "VERSION=" + v.number, "DIST=" + dist, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", v.date.Unix())},
		"bin/nfpm", "package", "--config", "deploy/packages/nfpm.yaml", "--packager", kind, "--target", dist)
}

// run calls a program with further settings, and shows what it says.
func run(settings []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), settings...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
