package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	servers "sepad/internal/testenv/server"
)

// drillVariable has the drill run (make drill): it takes some minutes, and needs Patroni,
// etcd, haproxy, pgbouncer and nginx.
const drillVariable = "SEPAD_DRILL"

// promotedPatience is how long after a promotion the first payment is through.
const promotedPatience = 10 * time.Second

// drill is two processes behind nginx, on a database that fails over, under load.
type drill struct {
	*crash
	base  *servers.Failover
	ports [2]string
	front string
	hooks *deafHooks
	beat  *beat
}

// TestHighAvailability breaks one part of the installation after the other, at load, and
// holds what was acknowledged against the books in the end.
func TestHighAvailability(t *testing.T) {
	if os.Getenv(drillVariable) == "" {
		t.Skip("make drill")
	}
	d := startDrill(t)
	rows := []string{"| what happens | without an answer for | promoted after | first payment after promotion | answers that were not 2xx or 4xx |", "|---|---|---|---|---|"}
	for _, turn := range []struct {
		name string
		act  func() (mend func())
		held time.Duration
	}{
		{"the primary is killed", d.killPrimary, 5 * time.Second},
		{"the primary is cut off from the network", d.cutPrimaryOff, 15 * time.Second},
		{"a planned switch", d.switchOver, 5 * time.Second},
		{"one of three etcd is away", func() func() { return d.killEtcd(1) }, 10 * time.Second},
		{"etcd has no majority (failsafe mode)", d.loseMajority, 20 * time.Second},
		{"the synchronous standby is killed", d.killStandby, 10 * time.Second},
		{"pgbouncer is killed and started again", d.restartPooler, 3 * time.Second},
		{"one sepad is killed", d.killServer, 5 * time.Second},
		{"sepad is restarted, one process after the other", d.rollServers, 0},
	} {
		rows = append(rows, d.turn(turn.name, turn.act, turn.held))
	}
	d.beat.stop()
	d.close()
	d.url = d.base.Direct()
	d.awaitOutcomes()
	d.hooks.check(t, d.crash)
	books, recovered := d.expectSoundEnd()
	verdict := "nothing lost, nothing doubled, every event once"
	if t.Failed() {
		verdict = "FAILED"
	}
	t.Logf("\n%s\n\n%d sessions, %d attempts, answers %v; all outcomes known %s after the load: %s", strings.Join(rows, "\n"),
		len(books.Sessions), len(books.Transactions), d.promises.Results(), recovered, verdict)
}

func startDrill(t *testing.T) *drill {
	t.Helper()
	folder := serverFolder(t)
	if err := os.Chmod(folder, 0o711); err != nil {
		t.Fatal(err)
	}
	base, err := servers.StartFailover(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(base.Stop)
	d := &drill{crash: prepareCrash(t, t.TempDir(), base.URL, 2), base: base}
	w := withDeafHooks(t, &world{crash: d.crash}) // which hears all the time
	d.hooks = w.hooks
	d.settings = append(d.settings, "SEPAD_SHUTDOWN_DELAY=2s", "SEPAD_TRUSTED_PROXIES=127.0.0.1")
	for i := range d.ports {
		d.ports[i] = freePort(t)
	}
	d.front = startNginx(t, d.ports[:])
	for i := range d.servers {
		d.startServer(i)
	}
	d.open()
	d.awaitPayments(2 * crashWorkers)
	d.beat = startBeat(t, d.crash)
	return d
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// startServer starts a process at its own port. Customers come through nginx.
func (d *drill) startServer(i int) {
	d.t.Helper()
	d.servers[i] = welcomed(d.t, command(d.t, d.folder, d.settings, "dev", "--listen", "127.0.0.1:"+d.ports[i], "--data", d.folder, "--apply", d.apply))
	if d.key == "" {
		d.key = d.servers[i].key
	}
	for place := range d.addresses {
		d.addresses[place].Store(&d.front)
	}
}

// startNginx puts nginx before the processes, which it leaves alone for a second when one
// does not answer.
func startNginx(t *testing.T, ports []string) (address string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Fatal("make drill needs nginx")
	}
	folder, port := t.TempDir(), freePort(t)
	var upstream strings.Builder
	for _, one := range ports {
		fmt.Fprintf(&upstream, "    server 127.0.0.1:%s max_fails=1 fail_timeout=1s;\n", one)
	}
	settings := fmt.Sprintf(`daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  upstream sepad {
%[2]s    keepalive 32;
  }
  server {
    listen 127.0.0.1:%[3]s;
    location / {
      proxy_pass http://sepad;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_connect_timeout 1s;
      proxy_read_timeout 30s;
    }
  }
}
`, folder, upstream.String(), port)
	path := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	nginx := exec.CommandContext(t.Context(), program, "-c", path, "-e", filepath.Join(folder, "error.log"))
	nginx.Cancel = func() error { return nginx.Process.Signal(syscall.SIGTERM) }
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nginx.Wait() }) // the test's context has ended it
	return "http://127.0.0.1:" + port
}

// turn lets one thing happen and gives a row of the table.
func (d *drill) turn(name string, act func() (mend func()), held time.Duration) string {
	d.t.Helper()
	if err := d.base.AwaitWhole(); err != nil {
		d.t.Fatalf("before %q: %v", name, err)
	}
	d.awaitPayments(crashWorkers)
	was := d.base.Primary()
	began := time.Now()
	d.beat.reset()
	mend := act()
	promoted := d.awaitPromotion(name, was, began)
	d.pass(held)
	mend()
	d.beat.awaitNext()
	seen := d.beat.seen()
	cell, after := "none", "-"
	if !promoted.IsZero() {
		first := seen.firstAfter(promoted)
		cell, after = promoted.Sub(began).Round(100*time.Millisecond).String(), first.Round(100*time.Millisecond).String()
		if first > promotedPatience {
			d.t.Errorf("%s: the first payment was through %s after the promotion", name, first)
		}
	}
	d.t.Logf("%s: no answer for %s, promoted %s, first payment %s later, failed %v", name, seen.gap, cell, after, seen.failed)
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", name, seen.gap.Round(100*time.Millisecond), cell, after, counted(seen.failed))
}

// awaitPromotion waits until another member is the primary, where the name of the turn
// says that one takes over; the zero time is for none.
func (d *drill) awaitPromotion(name string, was int, began time.Time) time.Time {
	d.t.Helper()
	if !strings.Contains(name, "primary") && !strings.Contains(name, "switch") {
		return time.Time{}
	}
	for time.Since(began) < recoveryPatience {
		if now := d.base.Primary(); now >= 0 && now != was {
			return time.Now()
		}
		d.pass(50 * time.Millisecond)
	}
	d.t.Fatalf("%s: nobody took over: %v", name, d.base.Complaints())
	return time.Time{}
}

func (d *drill) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *drill) killPrimary() func() {
	primary := d.base.Primary()
	d.base.Kill(primary)
	return func() { d.must(d.base.Revive(primary)) }
}

func (d *drill) cutPrimaryOff() func() { return d.base.CutOff(d.base.Primary()) }

func (d *drill) switchOver() func() {
	d.must(d.base.Switchover())
	return func() {}
}

func (d *drill) killEtcd(count int) func() {
	revive := d.base.KillEtcd(count)
	return func() { d.must(revive()) }
}

// loseMajority has the primary go on while all members see it.
func (d *drill) loseMajority() func() {
	d.must(d.base.SetFailsafe(true))
	d.pass(5 * time.Second) // until every member knows
	mend := d.killEtcd(2)
	return func() {
		mend()
		d.must(d.base.AwaitWhole())
		d.must(d.base.SetFailsafe(false))
	}
}

func (d *drill) killStandby() func() {
	standby := d.base.Standby()
	d.base.Kill(standby)
	return func() { d.must(d.base.Revive(standby)) }
}

func (d *drill) restartPooler() func() {
	d.must(d.base.RestartPooler())
	return func() {}
}

func (d *drill) killServer() func() {
	s := d.servers[1]
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	return func() { d.startServer(1) }
}

// rollServers restarts the processes further apart than nginx leaves one alone.
func (d *drill) rollServers() func() {
	for i, s := range d.servers {
		s.stop(syscall.SIGTERM)
		d.startServer(i)
		d.pass(2 * time.Second)
	}
	return func() {}
}

// beat pays one session after the other and notes when.
type beat struct {
	looker *looker
	done   chan struct{}
	ended  sync.WaitGroup

	mu     sync.Mutex
	since  time.Time
	paid   []time.Time
	failed map[int]int
}

func startBeat(t *testing.T, c *crash) *beat {
	t.Helper()
	b := &beat{looker: newLooker(t, c), done: make(chan struct{}), failed: map[int]int{}, since: time.Now()}
	b.looker.client.Timeout = 8 * time.Second
	b.ended.Go(func() {
		for {
			select {
			case <-b.done:
				return
			default:
				b.pay()
			}
		}
	})
	t.Cleanup(b.stop)
	return b
}

func (b *beat) stop() {
	select {
	case <-b.done:
	default:
		close(b.done)
	}
	b.ended.Wait()
}

func (b *beat) pay() {
	status, token := b.looker.create(b.looker.name())
	if status == http.StatusCreated {
		status = b.looker.pay(token)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case status == http.StatusOK:
		b.paid = append(b.paid, time.Now())
	case status == 0 || status >= http.StatusInternalServerError:
		b.failed[status]++
	}
}

func (b *beat) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since, b.paid, b.failed = time.Now(), nil, map[int]int{}
}

// awaitNext goes on until two more payments are through.
func (b *beat) awaitNext() {
	b.looker.t.Helper()
	b.mu.Lock()
	wanted := len(b.paid) + 2
	b.mu.Unlock()
	for deadline := time.Now().Add(recoveryPatience); ; b.looker.crash.pass(50 * time.Millisecond) {
		b.mu.Lock()
		enough := len(b.paid) >= wanted
		b.mu.Unlock()
		if enough {
			return
		}
		if time.Now().After(deadline) {
			b.looker.t.Fatal("nobody can pay any more")
		}
	}
}

// beatSeen is what was seen since the last reset.
type beatSeen struct {
	// gap is the longest time without a payment.
	gap    time.Duration
	paid   []time.Time
	failed map[int]int
}

func (b *beat) seen() beatSeen {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := beatSeen{paid: b.paid, failed: b.failed}
	last := b.since
	for _, at := range b.paid {
		s.gap, last = max(s.gap, at.Sub(last)), at
	}
	return s
}

// firstAfter is how long after an instant the first payment was through.
func (s beatSeen) firstAfter(instant time.Time) time.Duration {
	for _, at := range s.paid {
		if at.After(instant) {
			return at.Sub(instant)
		}
	}
	return recoveryPatience
}
