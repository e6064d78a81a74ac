// Package config is how an operator tells sepad what to do: one typed Config
// from flags and environment.
//
// Settings are the texts as they were given, each declared once (settings.go).
// Complete adds secrets that lie in files and finds misspelt variables
// (environment.go). Config reads the texts into types (reader.go, parse.go); its
// error has a sentence for every setting that is wrong, which names the setting by
// its variable, however it was given, and never a secret. An empty text counts as
// not given, and what is not given has a usable default.
//
// Folder is where a server without a database of its own keeps its data: the
// SQLite file, the key that encrypts it, and the developer's credentials.
package config
