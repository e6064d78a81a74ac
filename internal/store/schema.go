package store

import (
	"embed"
	"io/fs"

	"sepad/internal/db"
)

// SchemaVersion is the newest schema that this program knows. A test holds it
// to the newest migration.
const SchemaVersion = 40

//go:embed migrations/postgres migrations/sqlite
var migrations embed.FS

// wholeSchema is written from a database that went through all migrations, by a
// test that also holds it to them.
//
//go:embed migrations/sqlite_whole.sql
var wholeSchema string

var schema = db.Schema{Version: SchemaVersion, Migrations: within(migrations, "migrations"), WholeSQLite: wholeSchema}

// within is a folder of files that are built in, which is there or nothing was built.
func within(files embed.FS, folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
	if err != nil {
		panic(err)
	}
	return sub
}
