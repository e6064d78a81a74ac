package main

import (
	"bufio"
	"bytes"
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sepad/internal/store/storetest"
	"sepad/internal/vault"
)

// proveCollectionsVariable says how many collections the larger of two files has; make prove says a hundred thousand.
const (
	proveCollectionsVariable = "SEPAD_PROVE_COLLECTIONS"
	defaultCollections       = 8_000
	// smallerFile is how much smaller the other one is, and moreMemory what the larger may need beyond it.
	smallerFile = 8
	moreMemory  = 24 << 20
)

// TestLargeFilesTakeNoMoreMemory writes a file of so many collections in one run, and reads the statement that books them
// one by one: whatever their number is, the program needs the memory that a small file needs.
func TestLargeFilesTakeNoMoreMemory(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the memory of a process is asked from /proc, which this system lacks")
	}
	large := numberFrom(t, proveCollectionsVariable, defaultCollections)
	for engine, url := range databases {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			small := measureSize(t, url(t), large/smallerFile)
			big := measureSize(t, url(t), large)
			for what, used := range map[string][2]int64{"writing": {small.write, big.write}, "reading": {small.read, big.read}} {
				if used[1] > used[0]+moreMemory {
					t.Errorf("%s %d collections takes %d MiB, and %d take %d MiB", what, large/smallerFile, used[0]>>20, large, used[1]>>20)
				}
			}
		})
	}
}

// usedMemory is what writing and reading took at most, in bytes.
type usedMemory struct{ write, read int64 }

func measureSize(t *testing.T, url string, collections int) (used usedMemory) {
	t.Helper()
	s := openSize(t, url, collections)
	began := time.Now()
	used.write = s.run("bank", "write", "--gateway", "House bank")
	wrote := time.Since(began)
	var written int
	s.one(&written, `SELECT COALESCE(SUM(entry_count), 0) FROM bank_files WHERE state = 'sent'`)
	statement := s.statement()
	began = time.Now()
	used.read = s.run("bank", "read", "--gateway", "House bank", statement)
	var settled int
	s.one(&settled, `SELECT COUNT(*) FROM transactions WHERE status = 'approved'`)
	if written != collections || settled != collections {
		t.Errorf("of %d collections %d were written and %d settled", collections, written, settled)
	}
	t.Logf("%d collections: written in %s with %d MiB, read in %s with %d MiB", collections, wrote.Round(time.Millisecond), used.write>>20,
		time.Since(began).Round(time.Millisecond), used.read>>20)
	validateFiles(t, s.bank)
	s.wantKept(statement)
	return used
}

// wantKept holds the bytes that were kept of the one statement against those that came.
func (s *size) wantKept(statement string) {
	s.t.Helper()
	came, err := os.ReadFile(statement)
	if err != nil {
		s.t.Fatal(err)
	}
	var id string
	s.one(&id, `SELECT CAST(id AS text) FROM bank_statements`)
	kept := execute(s.t, command(s.t, s.folder, s.settings, "bank", "statement", id, "--xml"))
	mustSucceed(s.t, kept)
	if kept.stdout != string(came) {
		s.t.Errorf("of a statement of %d bytes %d are kept", len(came), len(kept.stdout))
	}
}

// size is a database in which many collections wait.
type size struct {
	t *testing.T
	// folder is where commands run, bank the place of the account there.
	folder, bank string
	settings     []string
	db           *sql.DB
}

func openSize(t *testing.T, url string, collections int) *size {
	t.Helper()
	s := &size{t: t, folder: t.TempDir()}
	s.bank = filepath.Join(s.folder, "disk", "bank")
	s.settings = []string{"SEPAD_DATABASE_URL=" + url, "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey(), "SEPAD_ENVIRONMENT=sandbox"}
	write(t, s.folder, "shop.yaml", fmt.Sprintf(`tenants:
  - id: 018f0000-0000-7000-8000-0000000000aa
    name: Shop
    creditor: {name: Shop GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - {id: %s, name: House bank, adapter: bank, test_mode: true, descriptor: SHOP, settings: {account_iban: DE89370400440532013000, folder: %s, max_entries: 1000000}}
`, gatewayOf(0), s.bank))
	for _, args := range [][]string{{"migrate"}, {"apply", "-f", "shop.yaml"}} {
		mustSucceed(t, execute(t, command(t, s.folder, s.settings, args...)))
	}
	made := execute(t, command(t, s.folder, s.settings, "keys", "create", "shop"))
	mustSucceed(t, made)
	s.payOnce(strings.TrimSpace(made.stdout))
	s.db = (&storetest.Env{URL: url}).DB(t)
	if strings.HasPrefix(url, "sqlite:") {
		s.copyInFile(collections - 1)
	} else {
		s.copyOnServer(collections - 1)
	}
	return s
}

// copyOnServer lets the one payment be so many more, in PostgreSQL.
func (s *size) copyOnServer(copies int) {
	s.t.Helper()
	text, err := os.ReadFile("../../bench/sql/collections.sql")
	if err != nil {
		s.t.Fatal(err)
	}
	for statement := range strings.SplitSeq(fmt.Sprintf(string(text), copies), ";\n") {
		if strings.TrimSpace(statement) != "" {
			s.exec(statement)
		}
	}
}

// copyInFile does the same in SQLite.
func (s *size) copyInFile(copies int) {
	s.t.Helper()
	const id = `'00000000-0000-7000-8000-' || printf('%012x', n)`
	s.exec(`UPDATE transactions SET merchant_transaction_id = 'BENCH-0'`)
	for _, table := range []struct {
		name    string
		changed map[string]string
	}{
		{"leads", map[string]string{"id": id, "email_key": "'e' || n"}},
		{"sessions", map[string]string{"id": id, "lead_id": id, "last_transaction_id": id, "token": "'t' || n"}},
		{"orders", map[string]string{"id": id, "session_id": id, "order_number": "'o' || n"}},
		{"transactions", map[string]string{"id": id, "session_id": id, "order_id": id, "lead_id": id, "merchant_transaction_id": "'BENCH-' || n"}},
	} {
		var columns string
		s.one(&columns, `SELECT group_concat(name, ', ') FROM pragma_table_info('`+table.name+`')`)
		values := strings.Split(columns, ", ")
		for i, name := range values {
			values[i] = cmp.Or(table.changed[name], name)
		}
		s.exec(fmt.Sprintf(`WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < %d)
			INSERT INTO %s (%s) SELECT %s FROM %[2]s, copies`, copies, table.name, columns, strings.Join(values, ", ")))
	}
	s.exec(`ANALYZE`)
}

func (s *size) exec(statement string) {
	s.t.Helper()
	if _, err := s.db.ExecContext(s.t.Context(), statement); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

// payOnce makes the payment that is copied.
func (s *size) payOnce(key string) {
	s.t.Helper()
	server := startServe(s.t, s.folder, s.settings)
	defer server.stop(syscall.SIGTERM)
	status, body := server.call(http.MethodPost, "/api/v1/payment-sessions/", key, `{"gateway_id": "`+gatewayOf(0)+`", "amount": "29.99", "currency": "EUR",
		"billing_type": "ONE_OFF", "lead": {"first_name": "Ada", "last_name": "Byron", "email": "payer@mail.example", "country": "DE"}}`)
	if token := firstMatch(body, `"session_token":"([^"]+)"`); token != "" {
		status, body = server.call(http.MethodPost, "/api/v1/payment-sessions/"+token+"/pay/", "", `{"iban": "`+germanIBAN(1)+`", "iban_holder_name": "Ada Byron"}`)
	}
	if status != http.StatusOK {
		s.t.Fatalf("%d: %s", status, body)
	}
}

// run runs a command and gives the most memory that it had. It is asked while it runs: what the kernel tells of a process
// that has ended counts in the memory of the test that started it.
func (s *size) run(args ...string) (most int64) {
	s.t.Helper()
	cmd := command(s.t, s.folder, s.settings, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for asking := time.NewTicker(5 * time.Millisecond); ; <-asking.C {
		select {
		case err := <-ended:
			asking.Stop()
			if err != nil || most == 0 {
				s.t.Fatalf("sepad %v with %d bytes: %v\n%s", args, most, err, said.String())
			}
			return most
		default:
			most = max(most, mostMemory(s.t, cmd.Process.Pid))
		}
	}
}

// mostMemory gives the most memory that a process has had so far, 0 for one that is about to end.
func mostMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	// It may also end between the opening of the file and its reading.
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	kilobytes, _ := strconv.ParseInt(firstMatch(string(status), `VmHWM:\s+(\d+) kB`), 10, 64)
	return kilobytes << 10
}

func (s *size) one(into any, query string) {
	s.t.Helper()
	if err := s.db.QueryRowContext(s.t.Context(), query).Scan(into); err != nil {
		s.t.Fatal(err)
	}
}

// statement books every payment by itself.
func (s *size) statement() string {
	s.t.Helper()
	path := filepath.Join(s.folder, "camt053.xml")
	file, err := os.Create(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	rows, err := s.db.QueryContext(s.t.Context(), "SELECT merchant_transaction_id FROM transactions")
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	out := bufio.NewWriter(file)
	fmt.Fprint(out, `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>S1</MsgId></GrpHdr><Stmt><Id>S1</Id>`+
		`<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>`)
	for i := 1; rows.Next(); i++ {
		var reference string
		if err := rows.Scan(&reference); err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(out, `<Ntry><NtryRef>%d</NtryRef><Amt Ccy="EUR">29.99</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt>`+
			`<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>ESDD</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><EndToEndId>%s</EndToEndId></Refs>`+
			`<Amt Ccy="EUR">29.99</Amt><CdtDbtInd>CRDT</CdtDbtInd></TxDtls></NtryDtls></Ntry>`+"\n", i, reference)
	}
	fmt.Fprint(out, `</Stmt></BkToCstmrStmt></Document>`)
	if err := errors.Join(rows.Err(), out.Flush()); err != nil {
		s.t.Fatal(err)
	}
	return path
}
