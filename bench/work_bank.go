//go:build unix

package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

var (
	//go:embed sql/collections.sql
	collectionsSQL string
	//go:embed sql/collection.sql
	collectionSQL string
	//go:embed sql/statement.sql
	statementSQL string
)

var (
	bankFileWork = work{
		name:    "bank-file",
		what:    "collections written into a pain.008 file on PostgreSQL, sepad bank write",
		against: "one select by id for each, and bare XML",
		unit:    "collections per second",
		better:  moreIsBetter,
		floor:   0.5,
		goal:    0.8,
		measure: measureBankFile,
	}
	bankStatementWork = work{
		name:    "bank-statement",
		what:    "bookings of a camt.053 taken in on PostgreSQL, sepad bank read",
		against: "bare XML tokens, and psql: \\copy and one statement that settles all",
		unit:    "bookings per second",
		better:  moreIsBetter,
		floor:   0.5,
		goal:    0.8,
		measure: measureBankStatement,
	}
)

const (
	bankPayments     = 20_000
	bankPaymentsFull = 100_000
	bankRounds       = 10
	kindBank         = 0x1b
	kindBankOffer    = 0x1e
	kindBankCampaign = 0x1f
)

func (l *lab) bankPayments() int {
	if l.full {
		return bankPaymentsFull
	}
	return bankPayments
}

// bankDatabase is a database in which so many payments wait for a file.
func (l *lab) bankDatabase(ctx context.Context, name string) (databaseURL string, err error) {
	if databaseURL, err = l.database(ctx, name); err != nil {
		return "", err
	}
	server, shop, err := l.openSepad(ctx, databaseURL)
	if err != nil {
		return "", err
	}
	defer server.stop()
	folder, err := l.subfolder("bank")
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "bank.yaml")
	text := fmt.Sprintf(`tenants:
  - id: %s
    name: Shop 1
    creditor: {name: Shop GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - {id: %s, name: House bank, adapter: bank, test_mode: true, descriptor: SHOP, settings: {account_iban: DE89370400440532013000, folder: %s, max_entries: 1000000, settle_days: 30}}
    offers:
      - {id: %s, name: Book, price: "29.99", currency: EUR, billing_type: ONE_OFF}
    campaigns:
      - {id: %s, name: Books, offer_id: %[4]s, gateway_id: %[2]s}
`, recordID(kindTenant, 1), recordID(kindBank, 1), folder, recordID(kindBankOffer, 1), recordID(kindBankCampaign, 1))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := l.runSepad(ctx, databaseURL, "apply", "-f", file); err != nil {
		return "", err
	}
	_, err = load(ctx, loadJob{
		Kind: "pay", Address: server.address, Connections: 1, Count: 1, Merchants: []merchant{{shop.Merchants[0].Key, recordID(kindBankCampaign, 1)}},
	})
	if err != nil {
		return "", err
	}
	l.say("%s: writing %d payments", name, l.bankPayments())
	return databaseURL, execute(ctx, databaseURL, fmt.Sprintf(collectionsSQL, l.bankPayments()-1))
}

// takeOutOfFiles lets every payment wait again.
const takeOutOfFiles = `TRUNCATE bank_lines, bank_statement_parts, bank_statements, bank_file_entries, bank_file_parts, bank_files;
	DELETE FROM events WHERE kind = 'transaction.status_changed';
	UPDATE transactions SET status = 'pending', gateway_reference = '', settle_due_at = 1;
	VACUUM transactions, bank_file_entries`

func measureBankFile(ctx context.Context, l *lab, w work) (measurement, error) {
	databaseURL, err := l.bankDatabase(ctx, "bank_file")
	if err != nil {
		return measurement{}, err
	}
	count := l.bankPayments()
	ours := func(ctx context.Context) (sample, error) {
		for statement := range strings.SplitSeq(takeOutOfFiles, ";") {
			if err := execute(ctx, databaseURL, statement); err != nil {
				return sample{}, err
			}
		}
		began := time.Now()
		if err := l.runSepad(ctx, databaseURL, "bank", "write", "--gateway", recordID(kindBank, 1)); err != nil {
			return sample{}, err
		}
		took := time.Since(began)
		var written int
		err := readRow(ctx, databaseURL, "SELECT COALESCE(SUM(entry_count), 0) FROM bank_files WHERE state = 'sent'", &written)
		if err == nil && written != count {
			err = fmt.Errorf("%d of %d collections are in a file", written, count)
		}
		return sample{figure: float64(count) / took.Seconds()}, err
	}
	return alternate(ctx, l, w, bankRounds, ours, func(ctx context.Context) (sample, error) { return l.bareFile(ctx, databaseURL) })
}

// bareFile is a file as a short program would write it: no crash is survived, nothing is checked.
func (l *lab) bareFile(ctx context.Context, databaseURL string) (sample, error) {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return sample{}, err
	}
	defer connection.Close(ctx)
	rows, err := connection.Query(ctx, "SELECT id::text FROM transactions ORDER BY id")
	if err != nil {
		return sample{}, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return sample{}, err
	}
	file, err := os.Create(filepath.Join(l.folder, "bare.xml"))
	if err != nil {
		return sample{}, err
	}
	defer file.Close()
	began := time.Now()
	out := bufio.NewWriterSize(file, 1<<16)
	for _, id := range ids {
		var text [11]string
		var amount, mandateAt int64
		err := connection.QueryRow(ctx, collectionSQL, recordID(kindTenant, 1), id).Scan(&text[0], &amount, &text[1], &text[2], &text[3], &text[4], &mandateAt,
			&text[5], &text[6], &text[7], &text[8], &text[9], &text[10], new(string))
		if err != nil {
			return sample{}, err
		}
		fmt.Fprintf(out, "<DrctDbtTxInf><PmtId><EndToEndId>%s</EndToEndId></PmtId><InstdAmt Ccy=\"EUR\">%d.%02d</InstdAmt><DrctDbtTx><MndtRltdInf><MndtId>%s</MndtId>"+
			"<DtOfSgntr>%s</DtOfSgntr></MndtRltdInf></DrctDbtTx><Dbtr><Nm>%s</Nm></Dbtr><DbtrAcct><Id><IBAN>%s</IBAN></Id></DbtrAcct><RmtInf><Ustrd>%s</Ustrd></RmtInf></DrctDbtTxInf>\n",
			text[0], amount/100, amount%100, text[4], time.UnixMicro(mandateAt).UTC().Format(time.DateOnly), text[1], text[2], text[5])
	}
	if err := errors.Join(out.Flush(), file.Sync()); err != nil {
		return sample{}, err
	}
	return sample{figure: float64(len(ids)) / time.Since(began).Seconds()}, nil
}

func measureBankStatement(ctx context.Context, l *lab, w work) (measurement, error) {
	ours, err := l.bankDatabase(ctx, "bank_statement")
	if err != nil {
		return measurement{}, err
	}
	if err := l.runSepad(ctx, ours, "bank", "write", "--gateway", recordID(kindBank, 1)); err != nil {
		return measurement{}, err
	}
	theirs, err := l.bankDatabase(ctx, "bank_statement_limit")
	if err != nil {
		return measurement{}, err
	}
	count := l.bankPayments()
	statement := filepath.Join(l.folder, "camt053.xml")
	if err := writeStatement(ctx, ours, statement, filepath.Join(l.folder, "lines.csv")); err != nil {
		return measurement{}, err
	}
	limit, err := l.bareStatement(ctx, theirs, statement)
	if err != nil {
		return measurement{}, err
	}
	return alternate(ctx, l, w, bankRounds,
		timedStatement(ours, count, func(ctx context.Context) error {
			return l.runSepad(ctx, ours, "bank", "read", "--gateway", recordID(kindBank, 1), statement)
		}),
		timedStatement(theirs, count, limit))
}

// unsettle makes of every payment what it was before the statement.
var unsettle = `TRUNCATE bank_lines, bank_statement_parts, bank_statements;
	DELETE FROM events WHERE kind = 'transaction.status_changed';
	UPDATE transactions SET status = 'pending', settle_due_at = 4000000000000000;
	UPDATE orders SET status = 'PENDING';
	UPDATE bank_files SET state = 'sent';
	VACUUM transactions, orders, events;
	INSERT INTO bank_statements (tenant_id, id, gateway_id, name, content_hash, content_sealed, state, problem, line_count, created_at)
		SELECT id, '00000000-0000-7000-8000-000000000001', id, '', '', '', 'read', '', 0, 1 FROM tenants WHERE id = '` + recordID(kindTenant, 1) + `'`

func timedStatement(databaseURL string, count int, play func(context.Context) error) side {
	return func(ctx context.Context) (sample, error) {
		for statement := range strings.SplitSeq(unsettle, ";") {
			if err := execute(ctx, databaseURL, statement); err != nil {
				return sample{}, err
			}
		}
		began := time.Now()
		if err := play(ctx); err != nil {
			return sample{}, err
		}
		took := time.Since(began)
		var settled int
		err := readRow(ctx, databaseURL, "SELECT COUNT(*) FROM transactions WHERE status = 'approved'", &settled)
		if err == nil && settled != count {
			err = fmt.Errorf("%d of %d payments are settled", settled, count)
		}
		return sample{figure: float64(count) / took.Seconds()}, err
	}
}

// writeStatement books every payment by itself, once as a bank would and once as lines for psql.
func writeStatement(ctx context.Context, databaseURL, statement, lines string) error {
	connection, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	rows, err := connection.Query(ctx, "SELECT merchant_transaction_id FROM transactions ORDER BY id")
	if err != nil {
		return err
	}
	references, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	var book, list strings.Builder
	book.WriteString(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>S1</MsgId></GrpHdr><Stmt><Id>S1</Id>` +
		`<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>`)
	for i, reference := range references {
		fmt.Fprintf(&book, `<Ntry><NtryRef>%d</NtryRef><Amt Ccy="EUR">29.99</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt>`+
			`<ValDt><Dt>2026-11-20</Dt></ValDt><AcctSvcrRef>BK%d</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>ESDD</SubFmlyCd></Fmly></Domn></BkTxCd>`+
			`<NtryDtls><TxDtls><Refs><EndToEndId>%s</EndToEndId><MndtId>MND-%d</MndtId></Refs><Amt Ccy="EUR">29.99</Amt><CdtDbtInd>CRDT</CdtDbtInd>`+
			`<RltdPties><Dbtr><Pty><Nm>Ada Byron</Nm></Pty></Dbtr></RltdPties><RmtInf><Ustrd>SHOP Book %d</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`+"\n", i, i, reference, i, i)
		fmt.Fprintf(&list, "%d,%s,2999,SHOP Book %d\n", i+1, reference, i)
	}
	book.WriteString(`</Stmt></BkToCstmrStmt></Document>`)
	return errors.Join(os.WriteFile(statement, []byte(book.String()), 0o600), os.WriteFile(lines, []byte(list.String()), 0o600))
}

// bareStatement goes through the tokens and calls psql.
func (l *lab) bareStatement(ctx context.Context, databaseURL, statement string) (func(context.Context) error, error) {
	program, err := exec.LookPath("psql")
	if err != nil {
		return nil, fmt.Errorf("psql: %w", errMissing)
	}
	if err := execute(ctx, databaseURL, "CREATE UNLOGGED TABLE bench_lines (number bigint, reference text, amount bigint, words text)"); err != nil {
		return nil, err
	}
	script := filepath.Join(l.folder, "statement.sql")
	text := strings.NewReplacer("FILE", filepath.Join(l.folder, "lines.csv"), "TENANT", recordID(kindTenant, 1)).Replace(statementSQL)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		file, err := os.Open(statement)
		if err != nil {
			return err
		}
		defer file.Close()
		decoder := xml.NewDecoder(bufio.NewReaderSize(file, 1<<16))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
		}
		output, err := exec.CommandContext(ctx, program, "-X", "-q", "-f", script, databaseURL).CombinedOutput()
		if err != nil {
			return fmt.Errorf("psql: %w\n%s", err, output)
		}
		return nil
	}, nil
}
