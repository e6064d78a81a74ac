// Package testenv gives a test its own corner of a real PostgreSQL and a real
// Redis.
//
// The servers are started once for a whole test run, by the program in run,
// which tells their addresses to every test process through the environment:
//
//	make test
//	  run: StartPostgres, StartSessions, StartRedis (package server, private, thrown away)
//	    go test ./...                          (many processes side by side)
//	      PostgresURL(t)                       a fresh empty database
//	      PostgresTemplate(t, name, migrate)   a fresh copy of a migrated database
//	      PostgresLease(t, name, migrate)      one that tests before had, as if it were fresh, in sessions that are warm
//	      RedisURL(t)                          a numbered database of one's own
//
// What a test was given is taken back when it ends. Without the servers, as
// under a plain go test, a test that needs one is skipped and says so; under
// make test (SEPAD_TEST_REQUIRE=1) it fails, so that nothing passes unseen.
package testenv
