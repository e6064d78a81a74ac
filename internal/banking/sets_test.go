package banking_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/store"
)

// credits writes a statement with one booking for each reference, in the standard's own words.
func credits(out io.Writer, references func(i int) (reference, amount string, more bool)) {
	fmt.Fprint(out, `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>S1</MsgId></GrpHdr><Stmt><Id>S1</Id>`+
		`<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>`)
	for i := 0; ; i++ {
		reference, amount, more := references(i)
		if !more {
			break
		}
		fmt.Fprintf(out, `<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt>`+
			`<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>ESDD</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs>`+
			`<EndToEndId>%s</EndToEndId></Refs><RmtInf><Ustrd>Premium plan, order %d</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`, amount, reference, i)
	}
	fmt.Fprint(out, `</Stmt></BkToCstmrStmt></Document>`)
}

// statementOf books the payments of ids, each with its own amount.
func (b *bundle) statementOf(t *testing.T, ids []string, further ...string) []byte {
	t.Helper()
	var references []string
	for _, id := range ids {
		references = append(references, b.statusOf(t, id).MerchantTransactionID)
	}
	references = append(references, further...)
	var out bytes.Buffer
	credits(&out, func(i int) (string, string, bool) {
		if i == len(references) {
			return "", "", false
		}
		return references[i], "49.00", true
	})
	return out.Bytes()
}

func TestAPoisonedEntryFailsAlone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "settle_days: 30")
		var ids []string
		for range 9 {
			ids = append(ids, b.pay(t, apptest.Approved))
		}
		b.cutOff(t)
		poison(t, b, ids[4])
		content := b.statementOf(t, ids, strings.Repeat("A0", 5000), "NOBODY-KNOWS")
		readings, err := b.App.Banking.Read(t.Context(), b.account, "statement.xml", asFile(content), false)
		must(t, err)
		if counts := readings[0].Counts; counts.Settled != 8 || counts.Unmatched != 3 || readings[0].Problem != "" {
			t.Errorf("%+v", readings)
		}
		for i, id := range ids {
			b.wantStatus(t, id, map[bool]string{true: "pending", false: "approved"}[i == 4])
		}
		open := b.open(t)
		if len(open) != 3 || open[0].Result != store.LineContradicts || open[0].Note == "" || len(open[1].Reference) > 140 {
			t.Errorf("%+v", open)
		}
	})
}

// poison has the database refuse every change of a transaction.
func poison(t *testing.T, b *bundle, id string) {
	t.Helper()
	if b.Env.Engine == "sqlite" {
		b.Env.Exec(t, `CREATE TRIGGER poison BEFORE UPDATE ON transactions WHEN NEW.id = '`+id+`' BEGIN SELECT RAISE(ABORT, 'poison'); END`)
		return
	}
	b.Env.Exec(t, `CREATE FUNCTION poison() RETURNS trigger AS 'BEGIN RAISE EXCEPTION ''poison''; END' LANGUAGE plpgsql`)
	b.Env.Exec(t, `CREATE TRIGGER poison BEFORE UPDATE ON transactions FOR EACH ROW WHEN (NEW.id = '`+id+`') EXECUTE FUNCTION poison()`)
}

// breaking is a file that breaks off once, after so many bytes of a pass.
type breaking struct {
	*bytes.Reader
	passes int
	stop   func()
}

func (f *breaking) ReadAt(p []byte, at int64) (int, error) {
	if at == 0 && len(p) > 4 {
		f.passes++
	}
	if f.passes == 3 && at > f.Size()/2 {
		f.stop()
		return 0, errors.New("the disk is gone")
	}
	return f.Reader.ReadAt(p, at)
}

func TestAReadingThatBreaksOffIsRepeated(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "settle_days: 30")
		ids := []string{b.pay(t, apptest.Approved), b.pay(t, apptest.Approved)}
		b.cutOff(t)
		var padding []string
		for i := range 2500 { // more than two batches
			padding = append(padding, fmt.Sprintf("OTHER-%d", i))
		}
		content := b.statementOf(t, ids, padding...)
		ctx, cancel := context.WithCancel(t.Context())
		source := &breaking{Reader: bytes.NewReader(content), stop: cancel}
		if _, err := b.App.Banking.Read(ctx, b.account, "statement.xml", io.NewSectionReader(source, 0, source.Size()), false); err == nil {
			t.Fatal("a file that broke off was read")
		}
		for range 2 {
			_, err := b.App.Banking.Read(t.Context(), b.account, "statement.xml", asFile(content), false)
			must(t, err)
		}
		for _, id := range ids {
			b.wantStatus(t, id, "approved")
		}
		if lines, statements := b.Env.Count(t, "bank_lines"), b.Env.Count(t, "bank_statements"); lines != 2502 || statements != 1 {
			t.Errorf("%d lines of %d statements", lines, statements)
		}
	})
}

func TestACreditAndItsReturnInOneStatement(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "settle_days: 30", "batch_booking: false")
		id := b.pay(t, "DE07370400440532013021")
		b.cutOff(t)
		b.Advance(t, 14*24*time.Hour)
		_, err := b.App.Banking.Answer(b.account, playedbank.Plain, nil, b.Now(t))
		must(t, err)
		names, err := filepath.Glob(filepath.Join(b.folder, "in", "camt053*"))
		must(t, err)
		var entries strings.Builder
		head, foot := "", ""
		for _, name := range names {
			content, err := os.ReadFile(name)
			must(t, err)
			first, last := bytes.Index(content, []byte("<Ntry>")), bytes.LastIndex(content, []byte("</Stmt>"))
			head, foot = string(content[:first]), string(content[last:])
			entries.Write(content[first:last])
		}
		readings, err := b.App.Banking.Read(t.Context(), b.account, "both.xml", asFile([]byte(head+entries.String()+foot)), false)
		must(t, err)
		if counts := readings[0].Counts; counts.Settled != 1 || counts.Returned != 1 {
			t.Errorf("%+v", counts)
		}
		b.wantStatus(t, id, "charged_back")
	})
}

// watched is a file that looks at the memory while it is read.
type watched struct {
	*os.File
	every, next int64
	most        uint64
}

func (f *watched) ReadAt(p []byte, at int64) (int, error) {
	if at < f.next-f.every {
		f.next = 0 // the next pass
	}
	if at >= f.next {
		f.next = at + f.every
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		f.most = max(f.most, memory.HeapAlloc)
	}
	return f.File.ReadAt(p, at)
}

// Not parallel, and one engine after the other: the memory is the whole process's.
func TestAStatementOfAnyLengthTakesTheSameMemory(t *testing.T) {
	var turn sync.Mutex
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		turn.Lock()
		defer turn.Unlock()
		read := func(entries int) uint64 {
			file, err := os.Create(filepath.Join(t.TempDir(), "statement.xml"))
			must(t, err)
			defer file.Close()
			credits(file, func(i int) (string, string, bool) { return fmt.Sprintf("OTHER-%d-%d", entries, i), "1.00", i < entries })
			found, err := file.Stat()
			must(t, err)
			source := &watched{File: file, every: found.Size() / 5}
			readings, err := b.App.Banking.Read(t.Context(), b.account, "statement.xml", io.NewSectionReader(source, 0, found.Size()), false)
			must(t, err)
			if readings[0].Counts.Unmatched != entries {
				t.Errorf("%+v", readings[0])
			}
			return source.most
		}
		few, many := read(2_000), read(20_000)
		if many > few+8<<20 {
			t.Errorf("2,000 entries take %d kB, 20,000 take %d kB", few>>10, many>>10)
		}
	})
}
