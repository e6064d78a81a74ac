// Package place puts files where banks fetch them, and finds what banks have put there.
//
//	place.go     what every place can do, and how files are named in it
//	folder.go    a folder on this machine
//	server.go    a folder on the bank's server, over SFTP
//	spool.go     what comes as a stream, in a file that nobody else finds
//
// A file gets its own name at once and as a whole, and is taken away only if it is still what was fetched. Whoever has the
// other end may do what they like there: put in links and pipes, exchange files, send without end or fall silent. What
// files say is none of this package's business.
package place
