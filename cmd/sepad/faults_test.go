package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	servers "sepad/internal/testenv/server"
)

// faultsVariable has the matrix run (make faults): it takes some minutes and wants the
// machine for itself.
const faultsVariable = "SEPAD_FAULTS"

const (
	// faultPatience is how long somebody may wait for an answer while something is broken: two
	// steps of the database's, 5 s each, and what a busy machine adds.
	faultPatience = 12 * time.Second
	// endPatience is how long a process may take to end while nothing is answered: for those
	// who wait, for jobs that wait in vain, and for connections that nobody closes.
	endPatience = 40 * time.Second
	// backPatience is how long after the end of a fault the first payment is through.
	backPatience = 10 * time.Second
)

// fault is something that breaks while customers pay, and comes right again.
type fault struct {
	name    string
	servers int
	held    time.Duration
	// prepare makes the world; begin breaks it and gives what mends it.
	prepare func(t *testing.T) *world
	begin   func(t *testing.T, w *world) (end func())
	// readyz is what /readyz has to say meanwhile, 0 for whatever it likes.
	readyz int
	// creates tells that sessions can be made meanwhile, onlyReads that they are refused and others can be read.
	creates, onlyReads bool
}

// world is a service under load with what it stands on.
type world struct {
	*crash
	// cluster is its database's own server, nil on SQLite; wire leads to what is cut.
	cluster *servers.Postgres
	wire    *servers.Wire
	// disk is where its database lies, where that is a small one, image the file behind it.
	disk, image string
	hooks       *deafHooks
	// mendedAt is when a fault had come right, where that takes a while by itself.
	mendedAt time.Time
}

// TestFaults breaks one thing after the other, on each engine, and holds what was
// acknowledged against the books.
func TestFaults(t *testing.T) {
	if os.Getenv(faultsVariable) == "" {
		t.Skip("make faults")
	}
	rows := []string{"| fault | engine | held | creates meanwhile | reads meanwhile | slowest | `/readyz` | back after | payments acknowledged | lost or doubled |", "|---|---|---|---|---|---|---|---|---|---|"}
	for engine, faults := range map[string][]fault{"PostgreSQL": postgresFaults(), "SQLite": sqliteFaults()} {
		for _, f := range faults {
			t.Run(engine+": "+f.name, func(t *testing.T) {
				rows = append(rows, f.run(t, engine))
			})
		}
	}
	t.Log("\n" + strings.Join(rows, "\n"))
}

// run breaks the world for a while, and gives a row of the table.
func (f fault) run(t *testing.T, engine string) string {
	t.Helper()
	w := f.prepare(t)
	for i := range f.servers {
		w.start(i)
	}
	w.open()
	w.awaitPayments(2 * crashWorkers)
	looker := newLooker(t, w.crash)
	end := f.begin(t, w)
	seen := looker.look(f.held)
	w.mendedAt = time.Now()
	end()
	looker.awaitPayment()
	back := time.Since(w.mendedAt)
	w.awaitPayments(2 * crashWorkers)
	w.close()
	w.awaitOutcomes()
	if w.hooks != nil {
		w.hooks.check(t, w.crash)
	}
	w.expectSoundEnd()
	f.judge(t, seen, back)
	verdict := "none"
	if t.Failed() {
		verdict = "**failed**"
	}
	answered := 0
	for _, n := range w.promises.Results() {
		answered += n
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %d | %s |", f.name, engine, f.held, counted(seen.creates), counted(seen.reads),
		seen.slowest.Round(10*time.Millisecond), counted(seen.readyz), back.Round(10*time.Millisecond), answered, verdict)
}

// judge holds what was seen against what operations.md promises.
func (f fault) judge(t *testing.T, seen sight, back time.Duration) {
	t.Helper()
	if seen.slowest > faultPatience {
		t.Errorf("somebody waited %s for an answer", seen.slowest)
	}
	if back > backPatience {
		t.Errorf("the first payment was through %s after the end of it", back)
	}
	if f.readyz != 0 && seen.readyz[f.readyz] == 0 {
		t.Errorf("/readyz never said %d: %v", f.readyz, seen.readyz)
	}
	if f.creates && seen.creates[http.StatusCreated] == 0 {
		t.Errorf("no session was made meanwhile: %v", seen.creates)
	}
	if !f.onlyReads {
		return
	}
	if refused := seen.creates[http.StatusInternalServerError] + seen.creates[http.StatusServiceUnavailable]; refused <= seen.creates[http.StatusCreated] {
		t.Errorf("sessions were made although nothing can be written: %v", seen.creates)
	}
	if len(seen.reads) != 1 || seen.reads[http.StatusOK] == 0 {
		t.Errorf("a session could not be read: %v", seen.reads)
	}
}

// clusterWorld is a service on a PostgreSQL of its own, reached over a wire.
func clusterWorld(t *testing.T) *world {
	t.Helper()
	return clusterIn(t, serverFolder(t))
}

// hookedWorld has a receiver of webhooks, too.
func hookedWorld(t *testing.T) *world {
	t.Helper()
	return withDeafHooks(t, clusterWorld(t))
}

func clusterIn(t *testing.T, folder string) *world {
	t.Helper()
	// What was committed outlives the server, though not the machine: nothing here stops that.
	cluster, err := servers.StartPostgres(folder, map[string]string{"fsync": "off", "max_connections": "120"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Stop() })
	wire, address := wireTo(t, cluster.URL)
	w := &world{crash: prepareCrash(t, t.TempDir(), address, 2), cluster: cluster, wire: wire}
	w.url = cluster.URL // the books are read past the wire
	return w
}

func wireTo(t *testing.T, address string) (*servers.Wire, string) {
	t.Helper()
	wire, over, err := servers.WireTo(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(wire.Close)
	return wire, over
}

// serverFolder is one that a server may own which gives root up.
func serverFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "sepad-faults-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

func postgresFaults() []fault {
	const pair = 2
	return []fault{
		{name: "the database answers nothing (cable pulled)", servers: pair, held: 15 * time.Second, prepare: clusterWorld, readyz: 503, begin: func(_ *testing.T, w *world) func() {
			w.wire.Cut()
			return w.wire.Heal
		}},
		{name: "the database answers nothing, and one of two processes is told to end (SIGTERM)", servers: pair, prepare: hookedWorld, begin: endWhileNothingIsAnswered},
		{name: "old connections are dead, new ones work", servers: pair, held: 10 * time.Second, prepare: clusterWorld, creates: true, begin: func(_ *testing.T, w *world) func() {
			w.wire.Forget()
			return func() {}
		}},
		{name: "`transactions` is locked by somebody else", servers: pair, held: 10 * time.Second, prepare: clusterWorld, readyz: 200, creates: true, begin: lockTransactions},
		{name: "the database only reads", servers: pair, held: 5 * time.Second, prepare: clusterWorld, readyz: 503, onlyReads: true, begin: func(t *testing.T, w *world) func() {
			t.Helper()
			setReadOnly(t, w, "on")
			return func() { setReadOnly(t, w, "off") }
		}},
		{name: "PostgreSQL is killed and restarted", servers: pair, held: 0, prepare: clusterWorld, begin: func(t *testing.T, w *world) func() {
			t.Helper()
			if err := w.cluster.Restart(); err != nil {
				t.Fatal(err)
			}
			return func() {}
		}},
		{name: "the database's disk is full", servers: pair, held: 5 * time.Second, prepare: func(t *testing.T) *world {
			t.Helper()
			disk := smallDisk(t, "400m")
			w := clusterIn(t, disk)
			w.disk = disk
			return w
		}, readyz: 503, begin: fillDisk},
		{name: "Redis hangs", servers: pair, held: 10 * time.Second, prepare: redisWorld, readyz: 200, creates: true, begin: func(_ *testing.T, w *world) func() {
			w.wire.Cut()
			return w.wire.Heal
		}},
		{name: "one of two processes is held up (SIGSTOP)", servers: pair, held: heldUpFor, prepare: clusterWorld, readyz: 200, creates: true, begin: holdUpSecond},
		{name: "one of two processes is killed (SIGKILL)", servers: pair, held: time.Second, prepare: clusterWorld, readyz: 200, creates: true, begin: killServer(1)},
		{name: "the receiver of webhooks hangs", servers: pair, held: 20 * time.Second, prepare: hookedWorld, readyz: 200, creates: true, begin: deafen},
	}
}

func sqliteFaults() []fault {
	onFile := func(t *testing.T) *world {
		t.Helper()
		folder := t.TempDir()
		return &world{crash: prepareCrash(t, folder, "sqlite:"+folder+"/sepad.db", 1)}
	}
	return []fault{
		{name: "the file is locked by somebody else", servers: 1, held: 5 * time.Second, prepare: onFile, begin: lockFile},
		{name: "the disk is full", servers: 1, held: 5 * time.Second, prepare: func(t *testing.T) *world {
			t.Helper()
			disk := smallDisk(t, "32m")
			return &world{crash: prepareCrash(t, disk, "sqlite:"+disk+"/sepad.db", 1), disk: disk}
		}, readyz: 503, begin: fillDisk},
		{name: "the file system turns read-only after an error of its disk, and is mounted anew", servers: 1, held: 5 * time.Second, prepare: func(t *testing.T) *world {
			t.Helper()
			disk, image := journaledDisk(t, "128m")
			return &world{crash: prepareCrash(t, disk, "sqlite:"+disk+"/sepad.db", 1), disk: disk, image: image}
		}, readyz: 503, onlyReads: true, begin: turnReadOnly},
		{name: "the process is killed (SIGKILL)", servers: 1, held: time.Second, prepare: onFile, begin: killServer(0)},
		{name: "the receiver of webhooks hangs", servers: 1, held: 20 * time.Second, prepare: func(t *testing.T) *world {
			t.Helper()
			return withDeafHooks(t, onFile(t))
		}, readyz: 200, creates: true, begin: deafen},
	}
}

// redisWorld counts limits in a Redis that is reached over a wire.
func redisWorld(t *testing.T) *world {
	t.Helper()
	w := clusterWorld(t)
	redis, err := servers.StartRedis(serverFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Stop)
	wire, address := wireTo(t, redis.URL)
	w.wire = wire
	w.settings = append(w.settings, "SEPAD_REDIS_URL="+address, "SEPAD_RATE_API_KEY_CREATE=100000", "SEPAD_RATE_API_KEY_PAY=100000")
	return w
}

func killServer(i int) func(*testing.T, *world) func() {
	return func(_ *testing.T, w *world) func() {
		w.kill(i)
		return func() { w.start(i) }
	}
}

// endWhileNothingIsAnswered has a process end properly although nobody can tell it what it waits for.
func endWhileNothingIsAnswered(t *testing.T, w *world) func() {
	t.Helper()
	hear := deafen(t, w) // deliveries are under way, and what becomes of them cannot be written
	w.awaitPayments(crashWorkers)
	w.wire.Cut()
	endInTime(t, w.servers[1])
	return func() {
		hear()
		w.wire.Heal()
		w.start(1)
	}
}

// endInTime tells a process to end that cannot write.
func endInTime(t *testing.T, s *running) {
	t.Helper()
	began := time.Now()
	s.stop(syscall.SIGTERM)
	if took := time.Since(began); took > endPatience {
		t.Errorf("it took %s to end", took)
	}
}

func holdUpSecond(t *testing.T, w *world) func() {
	t.Helper()
	signal := func(s syscall.Signal) {
		if err := w.servers[1].cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	return func() { signal(syscall.SIGCONT) }
}

// lockTransactions has somebody else hold the table that payments are written to.
func lockTransactions(t *testing.T, w *world) func() {
	t.Helper()
	connection := connectTo(t, w.cluster.URL)
	for _, statement := range []string{"BEGIN", "LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE"} {
		if _, err := connection.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if _, err := connection.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}

func setReadOnly(t *testing.T, w *world, value string) {
	t.Helper()
	connection := connectTo(t, w.cluster.URL)
	for _, statement := range []string{"SET default_transaction_read_only = off", "ALTER SYSTEM SET default_transaction_read_only = " + value, "SELECT pg_reload_conf()"} {
		if _, err := connection.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
}

func connectTo(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	return connection
}
