package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"sepad/internal/store"
)

// What the linker sets (make build, make release). The date is that of the commit, so
// that the same source gives the same program.
var version, commit, date string

type versionCommand struct{ outputFlag }

// versionBody is a program's version for programs.
type versionBody struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date"`
	Schema   int64  `json:"schema"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (c versionCommand) Run(p *program) error {
	body := versionBody{
		programVersion(), cmp.Or(commit, "unknown"), cmp.Or(date, "unknown"), store.SchemaVersion, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
	}
	return c.tell(p, body, "sepad %s (schema %d, %s, commit %s of %s, %s)", body.Version, body.Schema, body.Go, body.Commit, body.Date, body.Platform)
}

// programVersion falls back to what the compiler knows of the source.
func programVersion() string {
	if version != "" {
		return version
	}
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" && build.Main.Version != "(devel)" {
		return build.Main.Version
	}
	return "development"
}
