package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"sepad/internal/store"
)

// version is set by the linker (make build).
var version = ""

type versionCommand struct{}

func (versionCommand) Run(p *program) error {
	_, err := fmt.Fprintf(p.stdout, "sepad %s (schema %d, %s)\n", programVersion(), store.SchemaVersion, runtime.Version())
	return err
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
