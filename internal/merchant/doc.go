// Package merchant is what a tenant sets up before anybody pays: keys, gateway
// accounts, webhook profiles, hosted pages, offers and campaigns.
//
// A Setup holds all of one tenant's set-up and finds what is active in it; an
// inactive record is found as little as one that does not exist.
//
// The resource file is the operator's way to say the same in YAML. ParseFile
// reads one as a whole: load (load.go) bounds its size, follows aliases and
// gives a plain tree; object.go reads single fields from the tree; the file_*.go
// files build one record each. Nothing stops at the first mistake: all of them
// come back as one FileError, each with its line. What only the database can
// tell (an id that the file does not hold) is handed on as a Reference.
package merchant
