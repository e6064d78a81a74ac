//go:build unix

package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// members is how many of each there are: what has three goes on without one.
const members = 3

// Failover is PostgreSQL with standbys under Patroni, whose members agree by etcd, with
// haproxy in front that leads to the primary and pgbouncer (transaction mode) in front of
// that. Everything runs on this machine; each member of the database reaches the others
// and is reached by wires of its own.
type Failover struct {
	// URL leads to the database through pgbouncer.
	URL string

	folder  string
	proxy   *process
	pooler  *process
	etcd    [members]*process
	etcdRun [members]func() (*process, error)
	nodes   [members]*node
}

// node is a member of the database.
type node struct {
	name, folder    string
	port            int
	database, rest  *Wire   // to it
	agreement       []*Wire // to etcd
	patroni         *process
	restURL, direct string
}

// StartFailover starts all of it in a folder, which must exist and be empty.
func StartFailover(folder string) (*Failover, error) {
	f := &Failover{folder: folder}
	err := f.start()
	if err != nil {
		f.Stop()
	}
	return f, err
}

func (f *Failover) start() error {
	clients, err := f.startEtcd()
	if err != nil {
		return err
	}
	for i := range f.nodes {
		if f.nodes[i], err = f.newNode(i, clients); err != nil {
			return err
		}
		if err = f.nodes[i].start(); err != nil {
			return err
		}
		if i == 0 {
			err = f.await("a primary", func() bool { return f.Primary() == 0 })
		}
		if err != nil {
			return err
		}
	}
	if err := f.await("standbys", func() bool { return f.Standby() >= 0 && f.replicas() == members-1 }); err != nil {
		return err
	}
	return f.startFront()
}

// sub makes a folder for one of the servers.
func (f *Failover) sub(name string) (string, error) {
	path := filepath.Join(f.folder, name)
	return path, os.Mkdir(path, 0o711)
}

func (f *Failover) startEtcd() (clients []string, err error) {
	program, err := exec.LookPath("etcd")
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", ErrNotInstalled)
	}
	var peers []string
	var ports [members][2]int
	for i := range ports {
		for j := range ports[i] {
			if ports[i][j], err = freePort(); err != nil {
				return nil, err
			}
		}
		clients = append(clients, fmt.Sprintf("127.0.0.1:%d", ports[i][0]))
		peers = append(peers, fmt.Sprintf("e%d=http://127.0.0.1:%d", i, ports[i][1]))
	}
	for i := range f.etcd {
		folder, err := f.sub(fmt.Sprintf("etcd%d", i))
		if err != nil {
			return nil, err
		}
		client, peer := "http://"+clients[i], strings.TrimPrefix(peers[i], fmt.Sprintf("e%d=", i))
		f.etcdRun[i] = func() (*process, error) {
			return launch(folder, program, "--name", fmt.Sprintf("e%d", i), "--data-dir", "data", "--listen-client-urls", client, "--advertise-client-urls", client,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(peers, ","))
		}
		if f.etcd[i], err = f.etcdRun[i](); err != nil {
			return nil, err
		}
	}
	for i, client := range clients {
		if err := f.etcd[i].awaitReady(func() error { return hasAgreed(client) }); err != nil {
			return nil, err
		}
	}
	return clients, nil
}

// hasAgreed waits until a member of etcd has met the others: before, Patroni stumbles
// over what it says.
func hasAgreed(client string) error {
	answer, err := (&http.Client{Timeout: time.Second}).Get("http://" + client + "/version")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && strings.Contains(string(text), "not_decided") {
		err = errors.New("etcd has not agreed yet")
	}
	return err
}

func (f *Failover) newNode(i int, clients []string) (*node, error) {
	n := &node{name: fmt.Sprintf("node%d", i)}
	var err error
	if n.folder, err = f.sub(n.name); err != nil {
		return nil, err
	}
	restPort, err := freePort()
	if err != nil {
		return nil, err
	}
	if n.port, err = freePort(); err != nil {
		return nil, err
	}
	n.restURL, n.direct = fmt.Sprintf("http://127.0.0.1:%d", restPort), fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", n.port)
	if n.rest, err = StartWire(fmt.Sprintf("127.0.0.1:%d", restPort)); err != nil {
		return nil, err
	}
	if n.database, err = StartWire(fmt.Sprintf("127.0.0.1:%d", n.port)); err != nil {
		return nil, err
	}
	var agreement []string
	for _, client := range clients {
		wire, err := StartWire(client)
		if err != nil {
			return nil, err
		}
		n.agreement, agreement = append(n.agreement, wire), append(agreement, wire.Address)
	}
	binaries, err := postgresBinaries()
	if err != nil {
		return nil, err
	}
	settings := fmt.Sprintf(patroniSettings, n.name, restPort, n.rest.Address, strings.Join(agreement, ", "), n.port, n.database.Address, binaries, n.folder)
	return n, os.WriteFile(filepath.Join(n.folder, "patroni.yml"), []byte(settings), 0o644)
}

// patroniSettings are those of a member. What was acknowledged is on a synchronous
// standby, and no other is promoted.
const patroniSettings = `scope: sepad
name: %s
restapi: {listen: "127.0.0.1:%d", connect_address: "%s"}
etcd3: {hosts: [%s], use_proxies: true}
bootstrap:
  dcs:
    ttl: 10
    loop_wait: 1
    retry_timeout: 3
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 100, shared_buffers: 64MB, wal_keep_size: 256MB, synchronous_commit: "on", wal_sender_timeout: 5s, wal_receiver_timeout: 5s}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}]
postgresql:
  listen: 127.0.0.1:%d
  connect_address: %s
  data_dir: %[8]s/data
  bin_dir: %[7]s
  pgpass: %[8]s/pgpass
  parameters: {unix_socket_directories: ""}
  pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
  authentication: {superuser: {username: postgres, password: none}, replication: {username: replicator, password: none}}
`

func (n *node) start() error {
	program, err := exec.LookPath("patroni")
	if err != nil {
		return fmt.Errorf("Patroni: %w", ErrNotInstalled)
	}
	n.patroni, err = launch(n.folder, program, "patroni.yml")
	return err
}

// kill ends a member as a power cut does: without a word, all of it.
func (n *node) kill() {
	n.patroni.stop(syscall.SIGKILL)
	lines, err := os.ReadFile(filepath.Join(n.folder, "data", "postmaster.pid"))
	if err != nil {
		return // it was not running
	}
	first, _, _ := strings.Cut(string(lines), "\n")
	master, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return
	}
	victims := append(childrenOf(master), master)
	for _, pid := range victims {
		_ = syscall.Kill(pid, syscall.SIGKILL) // one may have gone by itself
	}
}

// childrenOf are the processes that another one has started.
func childrenOf(parent int) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		status, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "status"))
		if strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", parent)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// wires are all that lead to a member, and from it to etcd.
func (n *node) wires() []*Wire { return append([]*Wire{n.database, n.rest}, n.agreement...) }

// says tells whether a member answers a question of Patroni's with yes.
func (n *node) says(path string) bool {
	client := http.Client{Timeout: time.Second}
	answer, err := client.Get(n.restURL + path)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// Primary is the member that is the primary by its own word and reachable, -1 for none.
func (f *Failover) Primary() int { return f.which("/primary") }

// Standby is a synchronous standby, -1 for none.
func (f *Failover) Standby() int { return f.which("/synchronous") }

func (f *Failover) which(path string) int {
	for i, n := range f.nodes {
		if n != nil && n.patroni != nil && !n.isCut() && n.says(path) {
			return i
		}
	}
	return -1
}

func (n *node) isCut() bool { return n.rest.IsCut() }

// replicas counts members that follow.
func (f *Failover) replicas() (count int) {
	for _, n := range f.nodes {
		if n != nil && n.patroni != nil && n.says("/replica") {
			count++
		}
	}
	return count
}

// Direct leads to the primary past everything in front of it.
func (f *Failover) Direct() string {
	return strings.Replace(f.nodes[max(0, f.Primary())].direct, "/postgres?", "/sepad?", 1)
}

// AwaitWhole waits until there are a primary, a synchronous standby and everybody else.
func (f *Failover) AwaitWhole() error {
	return f.await("every member", func() bool { return f.Primary() >= 0 && f.Standby() >= 0 && f.replicas() == members-1 })
}

// wholePatience is how long a member may take to come back: it may have to be rewound.
const wholePatience = 3 * time.Minute

func (f *Failover) await(what string, isSo func() bool) error {
	deadline := time.After(wholePatience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !isSo() {
		select {
		case <-tick.C:
		case <-deadline:
			return errors.Join(fmt.Errorf("waited in vain for %s", what), f.Complaints())
		}
	}
	return nil
}

// Complaints are the ends of the members' logs.
func (f *Failover) Complaints() error {
	var all []error
	for _, n := range f.nodes {
		if n != nil && n.patroni != nil {
			log := n.patroni.log()
			all = append(all, fmt.Errorf("%s: %s", n.name, log[max(0, len(log)-2000):]))
		}
	}
	return errors.Join(all...)
}

// Kill ends a member of the database as a power cut does, and Revive starts it again.
func (f *Failover) Kill(i int) { f.nodes[i].kill() }

// Revive starts a member that was killed.
func (f *Failover) Revive(i int) error { return f.nodes[i].start() }

// CutOff takes a member of the database off the network: nobody reaches it, and it reaches no
// etcd. What it gives puts the member back.
func (f *Failover) CutOff(i int) (mend func()) {
	for _, wire := range f.nodes[i].wires() {
		wire.Cut()
	}
	return func() {
		for _, wire := range f.nodes[i].wires() {
			wire.Heal()
		}
	}
}

// KillEtcd ends members of etcd, the first ones, and gives what starts them again.
func (f *Failover) KillEtcd(count int) (revive func() error) {
	for i := range count {
		f.etcd[i].stop(syscall.SIGKILL)
	}
	return func() (err error) {
		for i := range count {
			if f.etcd[i], err = f.etcdRun[i](); err != nil {
				return err
			}
		}
		return nil
	}
}

// SetFailsafe says whether a primary goes on that all members see while etcd cannot agree.
func (f *Failover) SetFailsafe(on bool) error {
	var err error
	for range startTries { // whoever changes the settings at the same time is first
		if err = f.setFailsafe(on); err == nil {
			return nil
		}
	}
	return err
}

func (f *Failover) setFailsafe(on bool) error {
	primary := f.Primary()
	if primary < 0 {
		return errors.New("there is no primary")
	}
	request, err := http.NewRequest(http.MethodPatch, f.nodes[primary].restURL+"/config", strings.NewReader(fmt.Sprintf(`{"failsafe_mode": %t}`, on)))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("failsafe mode: %s", answer.Status)
	}
	return nil
}

// Switchover asks the primary to let the synchronous standby take over.
func (f *Failover) Switchover() error {
	primary, standby := f.Primary(), f.Standby()
	if primary < 0 || standby < 0 {
		return errors.New("there is no primary, or nobody to take over")
	}
	body, err := json.Marshal(map[string]string{"leader": f.nodes[primary].name, "candidate": f.nodes[standby].name})
	if err != nil {
		return err
	}
	answer, err := http.Post(f.nodes[primary].restURL+"/switchover", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("switchover: %s", answer.Status)
	}
	return nil
}

// Stop ends everything.
func (f *Failover) Stop() {
	for _, p := range []*process{f.pooler, f.proxy} {
		if p != nil {
			p.stop(syscall.SIGKILL)
		}
	}
	for _, n := range f.nodes {
		if n == nil {
			continue
		}
		if n.patroni != nil {
			n.kill()
		}
		for _, wire := range n.wires() {
			if wire != nil {
				wire.Close()
			}
		}
	}
	for _, p := range f.etcd {
		if p != nil {
			p.stop(syscall.SIGKILL)
		}
	}
}
