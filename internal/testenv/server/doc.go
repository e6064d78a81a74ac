// Package server starts private PostgreSQL and Redis servers for tests and
// benchmarks, and what keeps sessions of PostgreSQL warm.
//
// A server lives in a folder that the caller gives, listens on a free port of
// the loopback interface and is known to nobody else: whatever the machine
// already runs is neither used nor disturbed. Stop ends it; should the starting
// process be killed, the kernel ends the server with it.
//
// PostgreSQL refuses to run as root. When we are root, servers run as the user
// postgres, or nobody where that user does not exist, and own their folder.
package server
