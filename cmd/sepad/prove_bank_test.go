package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the books are read as they lie

	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/sepa"
	"sepad/internal/testenv"
	"sepad/internal/vault"
)

// provePaymentsVariable says how many payments the proof makes; make prove makes ten thousand.
const (
	provePaymentsVariable = "SEPAD_PROVE_PAYMENTS"
	defaultProvePayments  = 150
)

// proof is a service in production with an account at a bank of each shape, two of whose processes are killed all the
// time, and so are the commands around them.
type proof struct {
	t        *testing.T
	folder   string
	settings []string
	url      string
	key      string
	random   *rand.Rand
	mu       sync.Mutex
	servers  [2]*running
	kills    atomic.Int64
	ended    chan struct{}
	killer   sync.WaitGroup
}

func bankOf(shape playedbank.Shape) string { return "Bank " + string(shape) }

func (p *proof) bankFolder(shape playedbank.Shape) string {
	return filepath.Join(p.folder, "bank-"+string(shape))
}

func openProof(t *testing.T) *proof {
	t.Helper()
	seed := uint64(numberFrom(t, crashSeedVariable, int(rand.Uint64()>>1)))
	t.Logf("to try the same again: %s=%d", crashSeedVariable, seed)
	p := &proof{t: t, folder: t.TempDir(), url: testenv.PostgresURL(t), random: rand.New(rand.NewPCG(seed, 0)), ended: make(chan struct{})}
	p.settings = append([]string{
		"SEPAD_DATABASE_URL=" + p.url, "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey(), "SEPAD_ENVIRONMENT=production", "SEPAD_PUBLIC_URL=https://pay.example",
	}, crashSettings...)
	var gateways strings.Builder
	for i, shape := range playedbank.Shapes {
		fmt.Fprintf(&gateways, "      - {id: 018f0000-0000-7000-8000-0000000000b%d, name: %s, adapter: bank, descriptor: PROOF, settings: "+
			"{account_iban: DE89370400440532013000, folder: %s, settle_days: 30, max_entries: 700, batch_booking: %t}}\n", i, bankOf(shape), p.bankFolder(shape), i%2 == 0)
	}
	write(t, p.folder, "shop.yaml", fmt.Sprintf(`tenants:
  - id: 018f0000-0000-7000-8000-0000000000aa
    name: Shop
    creditor: {name: Shop GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
%s`, gateways.String()))
	for _, args := range [][]string{{"migrate"}, {"apply", "-f", "shop.yaml"}} {
		mustSucceed(t, execute(t, command(t, p.folder, p.settings, args...)))
	}
	made := execute(t, command(t, p.folder, p.settings, "keys", "create", "shop"))
	mustSucceed(t, made)
	p.key = strings.TrimSpace(made.stdout)
	for i := range p.servers {
		p.servers[i] = p.start()
	}
	p.killer.Go(p.killAtRandom)
	t.Cleanup(p.close)
	return p
}

// start starts a server behind the address that payers know.
func (p *proof) start() *running {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close() // the server takes it
	s := startServe(p.t, p.folder, p.settings, "--listen", address)
	s.url = "http://" + address
	return s
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
		case <-time.After(time.Duration(1500+rand.IntN(2500)) * time.Millisecond):
		}
		i := rand.IntN(len(p.servers))
		p.mu.Lock()
		victim := p.servers[i]
		p.mu.Unlock()
		_ = victim.cmd.Process.Kill()
		_ = victim.cmd.Wait() // it was killed
		p.kills.Add(1)
		next := p.start()
		p.mu.Lock()
		p.servers[i] = next
		p.mu.Unlock()
	}
}

// post calls a server that lives, as a load balancer would: status 0 tells that none answered.
func (p *proof) post(path, key, body string) (int, string) {
	p.mu.Lock()
	url := p.servers[rand.IntN(len(p.servers))].url
	p.mu.Unlock()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(response.Body); err != nil {
		return 0, ""
	}
	return response.StatusCode, answer.String()
}

// germanIBAN is an account number with its check digits.
func germanIBAN(number int) string {
	account := fmt.Sprintf("37040044%010d", number)
	rest := 0
	for _, digit := range account + "131400" { // DE00 behind it
		rest = (rest*10 + int(digit-'0')) % 97
	}
	return fmt.Sprintf("DE%02d%s", 98-rest, account)
}

// payAll has customers pay, each until an answer says that it is done.
func (p *proof) payAll(payments int) {
	const customers = 8
	var next atomic.Int64
	var all sync.WaitGroup
	for range customers {
		all.Go(func() {
			for i := int(next.Add(1)); i <= payments; i = int(next.Add(1)) {
				for !p.pay(i) {
				}
			}
		})
	}
	all.Wait()
}

func (p *proof) pay(i int) bool {
	status, body := p.post("/api/v1/payment-sessions/", p.key, fmt.Sprintf(`{"gateway_id": "018f0000-0000-7000-8000-0000000000b%d", "amount": "%d.%02d", "currency": "EUR",
		"billing_type": "ONE_OFF", "lead": {"first_name": "Ada", "last_name": "Byron", "email": "payer%d@mail.example", "country": "DE"}}`, i%len(playedbank.Shapes), 5+i%90, i%100, i))
	token := firstMatch(body, `"session_token":"([^"]+)"`)
	if status == 0 || token == "" {
		return p.t.Context().Err() != nil
	}
	for range 20 {
		status, _ = p.post("/api/v1/payment-sessions/"+token+"/pay/", "", fmt.Sprintf(`{"iban": "%s", "iban_holder_name": "Ada Byron"}`, germanIBAN(i)))
		if status == http.StatusOK || status == http.StatusGone || p.t.Context().Err() != nil {
			return true
		}
	}
	return true // it is being processed, and counted in the books
}

// run runs a command again and again, killing it at random, until it ends by itself.
func (p *proof) run(args ...string) string {
	p.t.Helper()
	for try := 0; ; try++ {
		cmd := command(p.t, p.folder, p.settings, args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			p.t.Fatal(err)
		}
		if try < 3 {
			bomb := time.AfterFunc(time.Duration(50+p.random.IntN(1200))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			if bomb.Stop() && err == nil {
				return stdout.String()
			}
			p.kills.Add(1)
			continue
		}
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 3 {
			p.t.Fatalf("sepad %v: %v\n%s", args, err, stderr.String())
		}
		return stdout.String()
	}
}

// verdictOn gives a third of the payments back, has a third refused, each with the next of all codes, and pays the rest.
func verdictOn(d *playedbank.Debit) playedbank.Verdict {
	reasons := sepa.Reasons()
	number := int(d.Cents) + len(d.EndToEndID)
	for _, c := range d.EndToEndID {
		number = (number*31 + int(c)) % 1_000_003
	}
	switch code := reasons[number/3%len(reasons)].Code; number % 3 {
	case 0:
		return playedbank.Verdict{Reject: code}
	case 1:
		return playedbank.Verdict{GiveBack: code}
	}
	return playedbank.Verdict{}
}

// wanted is where a collection ends with a verdict.
func wanted(v playedbank.Verdict) string {
	switch {
	case v.GiveBack != "", v.Reject != "" && sepa.ReasonFor(v.Reject).Follows == sepa.FollowsClaim:
		return "charged_back"
	case v.Reject != "":
		return "declined"
	}
	return "approved"
}

// answer plays the banks, and gives for each payment that is in a file where it must end.
func (p *proof) answer() (ends map[string]string, cents int64, codes map[string]bool) {
	p.t.Helper()
	ends, codes = map[string]string{}, map[string]bool{}
	for _, shape := range playedbank.Shapes {
		names, err := filepath.Glob(filepath.Join(p.bankFolder(shape), "out", "*.xml"))
		if err != nil || len(names) == 0 {
			p.t.Fatalf("no file for the %s bank: %v", shape, err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				p.t.Fatal(err)
			}
			order, err := playedbank.Take(content, playedbank.Limits{Entries: 700})
			if err != nil {
				p.t.Fatalf("%s: %v", name, err)
			}
			answers, err := playedbank.AnswersBy(order, shape, time.Now().AddDate(0, 2, 0), func(d *playedbank.Debit) playedbank.Verdict {
				v := verdictOn(d)
				codes[v.Reject+v.GiveBack] = true
				ends[d.EndToEndID] = wanted(v)
				return v
			})
			if err != nil {
				p.t.Fatal(err)
			}
			for _, block := range order.Blocks {
				for _, d := range block.Debits {
					cents += d.Cents
				}
			}
			for _, answer := range answers {
				write(p.t, filepath.Join(p.bankFolder(shape), "in"), answer.Name, string(answer.Content))
			}
		}
	}
	return ends, cents, codes
}

// TestProveTheBank is the proof that money is right: payments become files, banks of all shapes answer with every reason,
// and every payment ends where it must, while processes and commands are killed.
func TestProveTheBank(t *testing.T) {
	t.Parallel()
	payments := numberFrom(t, provePaymentsVariable, defaultProvePayments)
	began := time.Now()
	p := openProof(t)
	p.payAll(payments)
	paid := time.Since(began)
	for _, shape := range playedbank.Shapes {
		p.run("bank", "write", "--gateway", bankOf(shape))
		p.run("bank", "write", "--gateway", bankOf(shape)) // nothing is left
	}
	p.run("bank", "deliver")
	written := time.Since(began)
	ends, cents, codes := p.answer()
	for range 2 {
		for _, shape := range playedbank.Shapes {
			p.run("bank", "read", "--gateway", bankOf(shape))
		}
	}
	p.close()
	read := time.Since(began)
	p.expectEnds(ends, cents)
	if len(ends) < payments*9/10 {
		t.Errorf("only %d of %d payments are in files", len(ends), payments)
	}
	t.Logf("%d payments in files of %d.%02d EUR, %d codes, %d kills: paid after %s, written after %s, read after %s", len(ends), cents/100, cents%100, len(codes),
		p.kills.Load(), paid.Round(time.Second), written.Round(time.Second), read.Round(time.Second))
}

// expectEnds holds the books against what the banks said, and the banks' sums against ours.
func (p *proof) expectEnds(ends map[string]string, cents int64) {
	p.t.Helper()
	db, err := sql.Open("pgx", p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(p.t.Context(), `SELECT t.merchant_transaction_id, t.status, o.status, t.amount_minor,
		(SELECT COUNT(*) FROM chargebacks c WHERE c.merchant_transaction_id = t.merchant_transaction_id),
		(SELECT COUNT(*) FROM events e WHERE e.event_key LIKE '%:' || t.id || ':%' AND e.kind = 'transaction.status_changed'),
		(SELECT COUNT(*) FROM bank_file_entries e WHERE e.transaction_id = t.id)
		FROM transactions t JOIN orders o ON o.id = t.order_id`)
	if err != nil {
		p.t.Fatal(err)
	}
	defer rows.Close()
	ours, inFiles := int64(0), 0
	for rows.Next() {
		var id, status, order string
		var amount int64
		var chargebacks, events, entries int
		if err := rows.Scan(&id, &status, &order, &amount, &chargebacks, &events, &entries); err != nil {
			p.t.Fatal(err)
		}
		want, isSent := ends[id]
		if !isSent {
			if status != "declined" && entries == 0 {
				p.t.Errorf("%s is %s and in no file", id, status)
			}
			continue
		}
		inFiles++
		ours += amount
		told := map[string]int{"approved": 1, "declined": 1, "charged_back": 2}[want]
		if status != want || entries != 1 || events != told || (chargebacks == 1) != (want == "charged_back") {
			p.t.Errorf("%s is %s (order %s) with %d chargebacks, %d events and %d places in files, want %s", id, status, order, chargebacks, events, entries, want)
		}
	}
	if inFiles != len(ends) || ours != cents {
		p.t.Errorf("the books have %d payments of %d cents, the files %d of %d", inFiles, ours, len(ends), cents)
	}
	p.expectSums()
}

var decimals = regexp.MustCompile(`^-?\d+\.\d\d$`)

// expectSums reads every file's matching report: ours and the bank's agree to the cent, and no line is open.
func (p *proof) expectSums() {
	p.t.Helper()
	var files []struct {
		ID    string `json:"id"`
		State string `json:"state"`
	}
	list := execute(p.t, command(p.t, p.folder, p.settings, "bank", "list", "--json", "--limit", "1000"))
	if err := json.Unmarshal([]byte(list.stdout), &files); err != nil {
		p.t.Fatal(err, list.stderr)
	}
	for _, file := range files {
		var shown struct {
			Matching struct {
				Agrees    bool    `json:"agrees"`
				Collected string  `json:"collected"`
				Credited  *string `json:"credited"`
				Returned  string  `json:"returned"`
				Debited   *string `json:"debited"`
			} `json:"matching"`
		}
		show := execute(p.t, command(p.t, p.folder, p.settings, "bank", "show", file.ID, "--json"))
		if err := json.Unmarshal([]byte(show.stdout), &shown); err != nil {
			p.t.Fatal(err, show.stderr)
		}
		m := shown.Matching
		if file.State != "settled" || !m.Agrees || m.Credited == nil || !decimals.MatchString(*m.Credited) {
			p.t.Errorf("file %s is %s: %+v", file.ID, file.State, m)
		}
	}
	open := execute(p.t, command(p.t, p.folder, p.settings, "bank", "unmatched", "--json"))
	if strings.TrimSpace(open.stdout) != "[]" {
		p.t.Errorf("open lines: %s", open.stdout[:min(len(open.stdout), 1000)])
	}
}
