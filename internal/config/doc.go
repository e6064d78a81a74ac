// Package config is how an operator tells sepad what to do: one typed Config
// from flags and environment.
//
// Settings are the texts as they were given; their struct tags are the flags and
// the variables, so that --help, the variables and this package cannot differ.
// Config reads them into types, and its error is one sentence that names the
// setting by its variable, however it was given, and never a secret. An empty
// text counts as not given, and what is not given has a usable default.
//
// Folder is where a server without a database of its own keeps its data: the
// SQLite file, the key that encrypts it, and the developer's credentials.
package config
