package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/iso20022/iso20022test"
	"sepad/internal/sepa"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
	"sepad/internal/vault"
)

const (
	// provePaymentsVariable says how many payments the proof makes; make prove makes ten thousand.
	provePaymentsVariable = "SEPAD_PROVE_PAYMENTS"
	defaultProvePayments  = 300
	// provePatience ends a proof in which nothing goes on.
	provePatience = 20 * time.Minute
	// proveEntries is how many collections one file takes.
	proveEntries = 700
)

// TestProveTheBank is the proof that money is right: in production, on PostgreSQL, payments become files, banks of all
// shapes answer with every reason, and every payment, order, subscription, chargeback and event ends where it must, to
// the cent, while servers and commands are killed.
func TestProveTheBank(t *testing.T) {
	t.Parallel()
	payments := numberFrom(t, provePaymentsVariable, defaultProvePayments)
	began := time.Now()
	p := openProof(t)
	p.payAll(payments)
	paid := time.Since(began)
	for _, shape := range playedbank.Shapes {
		p.run("bank", "write", "--gateway", bankOf(shape))
	}
	p.run("bank", "deliver")
	written := time.Since(began)
	verdict := p.answer()
	for _, shape := range playedbank.Shapes {
		p.run("bank", "read", "--gateway", bankOf(shape))
	}
	p.close()
	p.readOut()
	read := time.Since(began)
	p.expectBooks(verdict, payments)
	p.expectSums(verdict)
	for _, finding := range storetest.ReadBooks(t, p.url).AuditRecords(time.Now()) {
		t.Error(finding)
	}
	t.Logf("%d payments of %s in %d files; banks answered with %d codes; %d kills; paid after %s, written after %s, read after %s, proven after %s",
		len(verdict.on), euro(verdict.collected+verdict.refused), verdict.files, len(verdict.codes), p.kills.Load(), paid.Round(time.Second),
		written.Round(time.Second), read.Round(time.Second), time.Since(began).Round(time.Second))
	for _, shape := range playedbank.Shapes {
		validateFiles(t, p.bankFolder(shape))
	}
}

// validateFiles holds what was put into a bank's folder against the official schema.
func validateFiles(t *testing.T, folder string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "out", "*.xml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files in %s: %v", len(names), folder, err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		iso20022test.Validate(t, "pain.008.001.08", content)
	}
}

// proof is a service in production with an account at a bank of each shape. Two processes serve it, of which one is killed
// all the time, and so are the commands around them.
type proof struct {
	t        *testing.T
	folder   string
	settings []string
	url      string
	key      string
	deadline time.Time
	mu       sync.Mutex
	random   *rand.Rand
	servers  [2]*running
	kills    atomic.Int64
	ended    chan struct{}
	killer   sync.WaitGroup
}

func bankOf(shape playedbank.Shape) string { return "Bank " + string(shape) }

func gatewayOf(i int) string {
	return fmt.Sprintf("018f0000-0000-7000-8000-0000000000b%d", i%len(playedbank.Shapes))
}

func (p *proof) bankFolder(shape playedbank.Shape) string {
	return filepath.Join(p.folder, "bank-"+string(shape))
}

func openProof(t *testing.T) *proof {
	t.Helper()
	seed := uint64(numberFrom(t, crashSeedVariable, int(rand.Uint64()>>1)))
	t.Logf("to try the same again: %s=%d", crashSeedVariable, seed)
	p := &proof{
		t: t, folder: t.TempDir(), url: testenv.PostgresURL(t), deadline: time.Now().Add(provePatience),
		random: rand.New(rand.NewPCG(seed, 0)), ended: make(chan struct{}),
	}
	p.settings = append([]string{
		"SEPAD_DATABASE_URL=" + p.url, "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey(), "SEPAD_ENVIRONMENT=production",
		"SEPAD_PUBLIC_URL=https://pay.example", "SEPAD_RATE_API_KEY_RECONCILIATION=0",
	}, crashSettings...)
	var gateways strings.Builder
	for i, shape := range playedbank.Shapes {
		fmt.Fprintf(&gateways, "      - {id: %s, name: %s, adapter: bank, descriptor: PROOF, settings: {account_iban: DE89370400440532013000, "+
			"folder: %s, settle_days: 30, max_entries: %d, batch_booking: %t}}\n", gatewayOf(i), bankOf(shape), p.bankFolder(shape), proveEntries, i%2 == 0)
	}
	write(t, p.folder, "shop.yaml", `tenants:
  - id: 018f0000-0000-7000-8000-0000000000aa
    name: Shop
    creditor: {name: Shop GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
`+gateways.String())
	for _, args := range [][]string{{"migrate"}, {"apply", "-f", "shop.yaml"}} {
		mustSucceed(t, execute(t, command(t, p.folder, p.settings, args...)))
	}
	made := execute(t, command(t, p.folder, p.settings, "keys", "create", "shop"))
	mustSucceed(t, made)
	p.key = strings.TrimSpace(made.stdout)
	for i := range p.servers {
		p.servers[i] = p.start()
	}
	t.Cleanup(p.close)
	p.killer.Go(p.killAtRandom)
	return p
}

// start starts a server. Payers know another address of it than the one on which it listens.
func (p *proof) start() *running {
	s := startServe(p.t, p.folder, p.settings)
	s.url = "http://" + firstMatch(s.log.String(), `"address":"([^"]+)"`)
	return s
}

func (p *proof) dice(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.IntN(n)
}

// close ends the killing.
func (p *proof) close() {
	select {
	case <-p.ended:
	default:
		close(p.ended)
	}
	p.killer.Wait()
}

func (p *proof) killAtRandom() {
	for {
		select {
		case <-p.ended:
			return
		case <-time.After(time.Duration(1500+p.dice(2500)) * time.Millisecond):
		}
		i := p.dice(len(p.servers))
		victim := p.server(i)
		_ = victim.cmd.Process.Kill()
		_ = victim.cmd.Wait() // it was killed
		p.kills.Add(1)
		next := p.start()
		p.mu.Lock()
		p.servers[i] = next
		p.mu.Unlock()
	}
}

func (p *proof) server(i int) *running {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.servers[i]
}

// call asks one of the servers, as a load balancer would that has not noticed yet who is dead: status 0 tells that none
// answered.
func (p *proof) call(method, path, key, body string) (int, string) {
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.server(p.dice(len(p.servers))).url+path, strings.NewReader(body))
	if err != nil {
		p.t.Error(err)
		return 0, ""
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+p.key)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(answer)
}

// payAll has customers pay, and waits until it is known what became of each payment: a process that died has left some
// open.
func (p *proof) payAll(payments int) {
	p.t.Helper()
	const customers = 8
	var next atomic.Int64
	var all sync.WaitGroup
	for range customers {
		all.Go(func() {
			for i := int(next.Add(1)); i <= payments && !p.t.Failed(); i = int(next.Add(1)) {
				p.pay(i)
			}
		})
	}
	all.Wait()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for open := -1; open != 0; {
		<-tick.C
		open = len(storetest.ReadBooks(p.t, p.url).OpenAttempts())
		if time.Now().After(p.deadline) {
			p.t.Fatalf("of %d payments it is not known what became of them", open)
		}
	}
	if p.t.Failed() {
		p.t.FailNow()
	}
}

// pay is one customer, who tries until the purchase is made; the shop asks again with the same key when it hears nothing.
func (p *proof) pay(i int) {
	create := fmt.Sprintf(`{"gateway_id": "%s", "amount": "%d.%02d", "currency": "EUR", %s,
		"lead": {"first_name": "Ada", "last_name": "Byron", "email": "payer%d@mail.example", "country": "DE"}}`,
		gatewayOf(i), 5+i%90, i%100, map[bool]string{true: `"billing_type": "RECURRING", "billing_frequency": "MONTHLY"`, false: `"billing_type": "ONE_OFF"`}[isRecurring(i)], i)
	var token, body string
	for status := 0; token == ""; {
		if status, body = p.call(http.MethodPost, "/api/v1/payment-sessions/", fmt.Sprintf("purchase-%d", i), create); !p.goesOn(status, body, 0, http.StatusCreated, http.StatusServiceUnavailable) {
			return
		}
		token = firstMatch(body, `"session_token":"([^"]+)"`)
	}
	for status := 0; status != http.StatusOK && status != http.StatusConflict && status != http.StatusGone; {
		status, body = p.call(http.MethodPost, "/api/v1/payment-sessions/"+token+"/pay/", "", fmt.Sprintf(`{"iban": "%s", "iban_holder_name": "Ada Byron"}`, germanIBAN(i)))
		if !p.goesOn(status, body, 0, http.StatusOK, http.StatusConflict, http.StatusGone, http.StatusServiceUnavailable) {
			return
		}
	}
}

// goesOn tells that an answer is one of those that a killed process explains.
func (p *proof) goesOn(status int, body string, expected ...int) bool {
	for _, one := range expected {
		if status == one && time.Now().Before(p.deadline) {
			return true
		}
	}
	p.t.Errorf("a customer was answered %d: %s", status, body)
	return false
}

// run runs a command again and again, killing it at random, until it ends by itself.
func (p *proof) run(args ...string) {
	p.t.Helper()
	for try := 0; ; try++ {
		cmd := command(p.t, p.folder, p.settings, args...)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Start(); err != nil {
			p.t.Fatal(err)
		}
		isKilled := atomic.Bool{}
		if p.dice(1<<try) == 0 { // less and less often
			bomb := time.AfterFunc(time.Duration(50+p.dice(800))*time.Millisecond, func() {
				isKilled.Store(true)
				_ = cmd.Process.Kill()
			})
			defer bomb.Stop()
		}
		err := cmd.Wait()
		switch {
		case err == nil, cmd.ProcessState.ExitCode() == 3: // lines whose explanation stands in a later file are open for a moment
			return
		case !isKilled.Load():
			p.t.Fatalf("sepad %v: %v\n%s", args, err, output.String())
		}
		p.kills.Add(1)
	}
}

// isRecurring tells which of the payments begin a subscription.
func isRecurring(i int) bool { return i/15%2 == 0 }

// plannedVerdict is what its bank does with a payment: a third is refused, a third given back, each with the next of all codes, and
// the rest is paid. Each bank begins elsewhere among the codes, so that few payments have them all. What a payer claims
// back was collected before.
func plannedVerdict(i int) playedbank.Verdict {
	reasons, shapes := sepa.Reasons(), len(playedbank.Shapes)
	round := i / shapes
	reason := reasons[(round/3+i%shapes*len(reasons)/shapes)%len(reasons)]
	if reason.Code == "NARR" && playedbank.Shapes[i%shapes] == playedbank.Dutch {
		reason = reasons[0] // this bank's words name a code of their own, which is then the reason
	}
	switch {
	case round%3 == 0 && reason.Follows != sepa.FollowsClaim:
		return playedbank.Verdict{Reject: reason.Code}
	case round%3 != 2:
		return playedbank.Verdict{GiveBack: reason.Code}
	}
	return playedbank.Verdict{}
}

// germanIBAN is the account of a payer, by number, with its check digits.
func germanIBAN(number int) string {
	account := fmt.Sprintf("37040044%010d", number)
	rest := 0
	for _, digit := range account + "131400" { // DE00 behind it
		rest = (rest*10 + int(digit-'0')) % 97
	}
	return fmt.Sprintf("DE%02d%s", 98-rest, account)
}

// payerOf is the number in an account.
func payerOf(t *testing.T, iban string) int {
	t.Helper()
	number, err := strconv.Atoi(iban[len(iban)-10:])
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// verdicts are what all banks said.
type verdicts struct {
	// on has the payers by the end-to-end ids of their collections.
	on    map[string]int
	codes map[string]bool
	files int
	// collected is what was credited, back what went back of it, refused what was never collected; all in cents.
	collected, back, refused int64
}

// answer plays the banks, each of which reads the files in its folder.
func (p *proof) answer() verdicts {
	p.t.Helper()
	v := verdicts{on: map[string]int{}, codes: map[string]bool{}}
	for _, shape := range playedbank.Shapes {
		names, err := filepath.Glob(filepath.Join(p.bankFolder(shape), "out", "*.xml"))
		if err != nil || len(names) == 0 {
			p.t.Fatalf("no file for the %s bank: %v", shape, err)
		}
		for _, name := range names {
			p.answerFile(shape, name, &v)
		}
	}
	return v
}

func (p *proof) answerFile(shape playedbank.Shape, name string, v *verdicts) {
	p.t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	order, err := playedbank.Take(content, playedbank.Limits{Entries: proveEntries})
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	v.files++
	for _, block := range order.Blocks {
		for _, d := range block.Debits {
			if _, isTwice := v.on[d.EndToEndID]; isTwice {
				p.t.Errorf("%s is collected twice", d.EndToEndID)
			}
			v.take(payerOf(p.t, d.IBAN), d)
		}
	}
	answers, err := playedbank.AnswersBy(order, shape, time.Now().AddDate(0, 2, 0), func(d *playedbank.Debit) playedbank.Verdict {
		return plannedVerdict(payerOf(p.t, d.IBAN))
	})
	if err != nil {
		p.t.Fatal(err)
	}
	inbox := filepath.Join(p.bankFolder(shape), "in")
	for _, answer := range answers { // under another name first: servers are looking
		write(p.t, inbox, ".part", string(answer.Content))
		if err := os.Rename(filepath.Join(inbox, ".part"), filepath.Join(inbox, answer.Name)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// take adds up what a bank makes of a collection.
func (v *verdicts) take(payer int, d playedbank.Debit) {
	planned := plannedVerdict(payer)
	v.on[d.EndToEndID] = payer
	v.codes[planned.Reject+planned.GiveBack] = true
	switch {
	case planned.Reject != "":
		v.refused += d.Cents
		return
	case planned.GiveBack != "":
		v.back += d.Cents
	}
	v.collected += d.Cents
}

// readOut waits until the servers have read what commands that were killed have left.
func (p *proof) readOut() {
	p.t.Helper()
	for _, shape := range playedbank.Shapes {
		mustSucceed(p.t, execute(p.t, command(p.t, p.folder, p.settings, "bank", "read", "--gateway", bankOf(shape))))
		for part, want := range map[string]bool{"in": false, "failed": false, "done": true} {
			names, err := filepath.Glob(filepath.Join(p.bankFolder(shape), part, "*.xml"))
			if err != nil || (len(names) > 0) != want {
				p.t.Errorf("the %s bank's folder %s has %d files: %v", shape, part, len(names), err)
			}
		}
	}
}
