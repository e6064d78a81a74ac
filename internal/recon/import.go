package recon

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sepad/internal/checkout"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Importer takes in files of processors. A file is read as a stream: lines are
// read in one place and written in batches in another, each batch whole or not
// at all. What is known already changes nothing, so that a file that was broken
// off is simply taken in again.
type Importer struct {
	Store    *store.Store
	Checkout *checkout.Checkout
	// Listed is how many records each list of a matching report has at most; 0 is as many as ever.
	Listed int
}

// ImportRequest says which file it is and what to do with it.
type ImportRequest struct {
	TenantID  uuid.UUID
	GatewayID uuid.UUID
	Kind      ImportKind
	File      io.Reader
	// IsDryRun reads and compares everything, and writes nothing but the result.
	IsDryRun bool
	// SendsEvents tells the merchant of records that are new.
	SendsEvents bool
	// OnRejected is told of lines that are not taken, a batch at a time; nil for nobody.
	OnRejected func([]store.Rejection)
	// Key is the name under which the request may be repeated. Its hash is that of
	// the form; the file's is known once it has been read.
	Key store.RequestKey
}

// KeepRejected keeps the texts of the first lines that are rejected, by their numbers, for whoever is shown them.
func (r *ImportRequest) KeepRejected(most int) map[int]string {
	texts := map[int]string{}
	r.OnRejected = func(rejected []store.Rejection) {
		for _, line := range rejected {
			if len(texts) < most {
				texts[line.Line] = line.Text
			}
		}
	}
	return texts
}

// running is an import under way.
type running struct {
	*Importer
	ImportRequest
	setup  *merchant.Setup
	record store.Import
	// memory knows persons who were erased: their lines come in without their names.
	memory atomic.Pointer[store.Memory]
}

// Import takes a file in. The result is also kept, with the lines that were not
// taken. An error means that the file as a whole could not be read to its end;
// what was taken before stays, and the same file can be given again.
func (im *Importer) Import(ctx context.Context, req ImportRequest) (store.Import, error) {
	file := digest(req.File, req.Key.RequestHash)
	earlier, err := im.repeated(ctx, req, file)
	switch {
	case err != nil:
		return store.Import{}, err
	case earlier != nil:
		return *earlier, nil
	}
	req.File, req.Key.RequestHash = file, ""
	run, lines, err := im.open(ctx, req)
	if err != nil {
		return store.Import{}, err
	}
	err = run.save(ctx, nil, func(tx *store.Tx) {
		tx.Remember(run.Key, run.record.ID)
		tx.Audit(run.deed("import.create"))
	})
	if store.IsRepeat(err) {
		return store.Import{}, store.ErrRequestRunning
	}
	if err != nil {
		return store.Import{}, err
	}
	err = run.importLines(ctx, lines, run.how())
	err = errors.Join(err, run.end(context.WithoutCancel(ctx), err, file))
	return run.record, err
}

// end writes what became of the import. Only one that was read to its end can be
// repeated; the key of another one is free for the next try.
func (r *running) end(ctx context.Context, failed error, file *digested) error {
	r.record.Status, r.Key.RequestHash = store.ImportCompleted, file.String()
	if failed != nil {
		r.record.Status = store.ImportFailed
	}
	return r.save(ctx, nil, func(tx *store.Tx) {
		tx.Forget(r.Key)
		if failed == nil {
			tx.Remember(r.Key, r.record.ID)
		}
	})
}

// open checks what is asked and reads the header.
func (im *Importer) open(ctx context.Context, req ImportRequest) (*running, *lineReader, error) {
	version, err := im.Store.SetupVersion(ctx, req.TenantID)
	if store.IsNotFound(err) {
		return nil, nil, payment.Fields{"tenant_id": "There is no tenant with this id."}.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	setup, err := im.Store.Setup(ctx, req.TenantID, version)
	if err != nil {
		return nil, nil, err
	}
	account, known := setup.Gateways[req.GatewayID]
	if !known {
		return nil, nil, payment.Fields{"gateway_id": "The tenant has no gateway with this id."}.Err()
	}
	lines, err := openLines(req.File, req.Kind, im.Checkout.Gateways.Report(account.Adapter))
	if err != nil {
		return nil, nil, err
	}
	memory, err := im.Store.Memory(ctx, req.TenantID)
	if err != nil {
		return nil, nil, err
	}
	now := im.Checkout.Clock.Now()
	lines.header.latest = now.Add(farthest)
	run := &running{Importer: im, ImportRequest: req, setup: setup, record: store.Import{
		ID: payment.NewID(), TenantID: req.TenantID, GatewayID: req.GatewayID, Kind: string(req.Kind),
		Status: store.ImportRunning, IsDryRun: req.IsDryRun, CreatedAt: now, UpdatedAt: now,
	}}
	run.memory.Store(memory)
	return run, lines, nil
}

// deed is what the audit trail keeps of a file.
func (r *running) deed(action string) store.Deed {
	i := r.record
	return store.Deed{
		Action: action, ObjectType: "import", ObjectID: i.ID.String(), TenantID: i.TenantID,
		After: map[string]any{"gateway_id": i.GatewayID, "kind": i.Kind, "dry_run": i.IsDryRun},
	}
}

// save writes how far the import has come, further lines that were not taken,
// and what else belongs to it.
func (r *running) save(ctx context.Context, rejected []store.Rejection, also ...func(*store.Tx)) error {
	now := r.Checkout.Clock.Now()
	if r.OnRejected != nil && len(rejected) > 0 {
		r.OnRejected(rejected)
	}
	r.record.Counts.Rejected += len(rejected)
	r.record.UpdatedAt = now
	return r.Store.Write(ctx, now, func(tx *store.Tx) error {
		if r.record.Status == store.ImportRunning {
			tx.Relax()
		}
		tx.PutImport(r.record)
		tx.AddRejections(r.record, rejected)
		for _, write := range also {
			write(tx)
		}
		return nil
	})
}

// lineReader gives the lines of a file.
type lineReader struct {
	csv    *csvReader
	header header
}

func openLines(file io.Reader, kind ImportKind, format reportFormat) (*lineReader, error) {
	r := &lineReader{csv: newCSVReader(file)}
	fields, _, err := r.csv.next()
	if errors.Is(err, io.EOF) {
		return nil, payment.Fields{"file": "The file is empty."}.Err()
	}
	if err != nil && !isFault(err) {
		return nil, err
	}
	r.header, err = readHeader(fields, kind, format)
	return r, err
}

// next gives a line; a fault of one line is told apart from the end of the file.
func (r *lineReader) next() (line, error) {
	fields, number, err := r.csv.next()
	return line{&r.header, fields, number, r.csv.delimiter}, err
}

// batch is a part of a file on its way into the database.
type batch struct {
	staged   []store.Staged
	compared []store.Compared
	reported []reportedLine
	rejected []store.Rejection
	// text has the lines one after the other as they came; numbers and ends say which is
	// which. A line may turn out to be wrong only when it is held against our records.
	text    []byte
	numbers []int
	ends    []int
}

// keep remembers a line's text.
func (b *batch) keep(l *line) {
	b.text = l.appendText(b.text)
	b.numbers, b.ends = append(b.numbers, l.number), append(b.ends, len(b.text))
}

// reject gives a line back, with the reason.
func (b *batch) reject(number int, reason error) store.Rejection {
	rejection := store.Rejection{Line: number, Reason: reason.Error()}
	if i, found := slices.BinarySearch(b.numbers, number); found {
		begin := 0
		if i > 0 {
			begin = b.ends[i-1]
		}
		rejection.Text = shorten(decodeText(b.text[begin:b.ends[i]]))
	}
	return rejection
}

// shownText is how many characters of a line somebody is shown: it may have a mebibyte of them.
const shownText = 1_000

func shorten(text string) string {
	if utf8.RuneCountInString(text) <= shownText {
		return text
	}
	return string([]rune(text)[:shownText]) + "…"
}

func (b *batch) lines() int {
	return len(b.staged) + len(b.compared) + len(b.reported) + len(b.rejected)
}

// method is how the lines of a kind of file are imported.
type method struct {
	size, writers int
	// read puts a line into its batch, or says what is wrong with it.
	read func(*line, *batch) error
	// write takes a batch in.
	write func(context.Context, *batch) (outcomeOfBatch, error)
}

// how tells by the kind. Chargebacks have one writer: each finds what the lines
// before it have left behind.
func (r *running) how() method {
	size, writers := r.Store.BulkBatch()
	if r.Kind == ImportChargebacks {
		return method{min(size, chargebackBatch), 1, r.reportLine, r.writeChargebacks}
	}
	return method{size, writers, r.stageLine, r.writeTransactions}
}

// importLines reads in one place and writes in others.
func (r *running) importLines(ctx context.Context, lines *lineReader, how method) error {
	batches, results := make(chan *batch, how.writers), make(chan outcomeOfBatch)
	group, working := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(batches)
		return readBatches(working, lines, how, batches)
	})
	var writing sync.WaitGroup
	for range how.writers {
		writing.Add(1)
		group.Go(func() error {
			defer writing.Done()
			return writeBatches(working, how, batches, results)
		})
	}
	go func() {
		writing.Wait()
		close(results)
	}()
	group.Go(func() error { return r.countBatches(working, results) })
	return group.Wait()
}

// writeBatches works off batches until there are no more.
func writeBatches(ctx context.Context, how method, batches <-chan *batch, results chan<- outcomeOfBatch) error {
	for b := range batches {
		done, err := how.write(ctx, b)
		if err != nil {
			return err
		}
		select {
		case results <- done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// countBatches keeps the count of what was written, and has the tables counted
// each time that it has doubled.
func (r *running) countBatches(ctx context.Context, results <-chan outcomeOfBatch) error {
	recountAt := 10_000
	for done := range results {
		r.record.Counts.Add(done.counts)
		if err := r.save(ctx, done.rejected); err != nil {
			return err
		}
		if r.record.Counts.New < recountAt || r.IsDryRun {
			continue
		}
		recountAt = 2 * r.record.Counts.New
		err := r.Store.Write(ctx, r.Checkout.Clock.Now(), func(tx *store.Tx) error {
			tx.Recount(r.record)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readBatches reads the file into batches.
func readBatches(ctx context.Context, lines *lineReader, how method, batches chan<- *batch) error {
	for {
		b := &batch{}
		err := b.fill(lines, how.size, how.read)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if b.lines() > 0 {
			select {
			case batches <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// batchText is how much text makes a batch full, however few lines it has: several are held at a time.
const batchText = 8 << 20

// fill reads lines until the batch is full or the file ends.
func (b *batch) fill(lines *lineReader, size int, read func(*line, *batch) error) error {
	for b.lines() < size && len(b.text) < batchText {
		l, err := lines.next()
		if err != nil && !isFault(err) {
			return err
		}
		b.keep(&l)
		if err == nil {
			err = read(&l, b)
		}
		if err != nil {
			b.rejected = append(b.rejected, b.reject(l.number, err))
		}
	}
	return nil
}

// stageLine reads a line as something that can be staged.
func (r *running) stageLine(l *line, b *batch) error {
	t, err := l.readTransaction()
	if err != nil {
		return err
	}
	if b.staged == nil {
		size, _ := r.Store.BulkBatch()
		b.staged = make([]store.Staged, 0, size)
	}
	t.ID, t.TenantID, t.GatewayID, t.Source = payment.NewID(), r.TenantID, r.GatewayID, payment.SourceImport
	b.staged = append(b.staged, store.Staged{Line: l.number, Transaction: t})
	return nil
}
