package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/schollz/progressbar/v3"

	"sepad/internal/config"
	"sepad/internal/merchant"
	"sepad/internal/recon"
	"sepad/internal/store"
)

type importCommand struct {
	Transactions importTransactionsCommand `cmd:"" help:"Take in a processor's file of payments and refunds."`
	Chargebacks  importChargebacksCommand  `cmd:"" help:"Take in a processor's file of chargebacks."`
	List         importListCommand         `cmd:"" help:"List files that were taken in, the newest first."`
	Show         importShowCommand         `cmd:"" help:"Show what became of one, and the lines that were not taken."`
	Timeline     importTimelineCommand     `cmd:"" help:"Show what happened to one, in order."`
}

type importTransactionsCommand struct{ importFlags }

func (c *importTransactionsCommand) Run(p *program) error { return c.run(p, recon.ImportTransactions) }

type importChargebacksCommand struct{ importFlags }

func (c *importChargebacksCommand) Run(p *program) error { return c.run(p, recon.ImportChargebacks) }

// gatewayFlag is whose file it is.
type gatewayFlag struct {
	Gateway string `name:"gateway" short:"g" required:"" placeholder:"ID|NAME" help:"The gateway whose file it is, by id, or by name where no other has it."`
}

type importFlags struct {
	File string `arg:"" help:"The CSV file, or - for standard input."`
	gatewayFlag
	DryRun   bool   `name:"dry-run" help:"Read and compare everything, and change nothing."`
	Events   bool   `name:"events" help:"Tell the merchant of records that are new (transaction.created)."`
	Rejected string `name:"rejected" placeholder:"FILE" help:"Write the lines that were not taken to this CSV file, with their reasons and their text."`
	outputFlag
	dataFlags
}

func (importFlags) Help() string {
	return "Columns are found by their names in the first line: those of the reconciliation records, or the processor's own. " +
		"What is known already changes nothing, so that a file that was broken off is simply taken in again. " +
		"Exit code 3 tells that lines were not taken."
}

func (c *importFlags) run(p *program, kind recon.ImportKind) error {
	return c.use(p, func(st *store.Store, access config.Access) error {
		importer, setup, gatewayID, err := p.importer(st, access, c.Gateway)
		if err != nil {
			return err
		}
		file, done, err := p.openFile(c.File)
		if err != nil {
			return err
		}
		rejected, err := newRejections(c.Rejected)
		if err != nil {
			return err
		}
		result, err := importer.Import(p.ctx, recon.ImportRequest{
			TenantID: setup.Tenant.ID, GatewayID: gatewayID, Kind: kind, File: file, IsDryRun: c.DryRun, SendsEvents: c.Events,
			OnRejected: rejected.add,
		})
		done()
		if err := errors.Join(err, rejected.close()); err != nil {
			return err
		}
		return c.report(p, result, rejected)
	})
}

// importer finds the gateway and what it takes to read its files.
func (p *program) importer(st *store.Store, access config.Access, name string) (*recon.Importer, *merchant.Setup, uuid.UUID, error) {
	setup, id, err := findGateway(p, st, name)
	if err != nil {
		return nil, nil, uuid.Nil, err
	}
	service, err := serviceClock(p, st, access)
	if err != nil {
		return nil, nil, uuid.Nil, err
	}
	return &recon.Importer{Store: st, Checkout: useCases(st, access, service)}, setup, id, nil
}

// findGateway finds a gateway of any tenant.
func findGateway(p *program, st *store.Store, name string) (*merchant.Setup, uuid.UUID, error) {
	tenants, err := st.Tenants(p.ctx)
	if err != nil {
		return nil, uuid.Nil, err
	}
	wanted, _ := uuid.Parse(name)
	var owner *merchant.Setup
	var id uuid.UUID
	for _, tenant := range tenants {
		version, err := st.SetupVersion(p.ctx, tenant.ID)
		if err != nil {
			return nil, uuid.Nil, err
		}
		setup, err := st.Setup(p.ctx, tenant.ID, version)
		if err != nil {
			return nil, uuid.Nil, err
		}
		for _, account := range setup.Gateways {
			if account.ID != wanted && account.Name != name {
				continue
			}
			if owner != nil {
				return nil, uuid.Nil, fmt.Errorf("several gateways are called %q: give the id", name)
			}
			owner, id = setup, account.ID
		}
	}
	if owner == nil {
		return nil, uuid.Nil, fmt.Errorf("no gateway has the id or name %q", name)
	}
	return owner, id, nil
}

// openFile opens a file to read, with a bar that shows how far it is read where
// somebody sits at a terminal.
func (p *program) openFile(path string) (file io.Reader, done func(), err error) {
	if path == "-" {
		return p.stdin, func() {}, nil
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	about, err := opened.Stat()
	if err != nil || !isTerminal(p.stderr) {
		return opened, func() { opened.Close() }, err
	}
	bar := progressbar.NewOptions64(about.Size(), progressbar.OptionSetWriter(p.stderr), progressbar.OptionShowBytes(true),
		progressbar.OptionSetDescription(about.Name()), progressbar.OptionClearOnFinish())
	reader := progressbar.NewReader(opened, bar)
	// A short file is read at once: without this nothing would ever be seen.
	return &reader, func() { _ = errors.Join(bar.Finish(), opened.Close()) }, bar.RenderBlank()
}

// shownRejections is how many lines are listed on the screen.
const shownRejections = 20

// rejections gathers lines that were not taken: some for the screen, all for a file.
type rejections struct {
	shown []store.Rejection
	file  *os.File
	csv   *csv.Writer
}

// newRejections begins the file where one is asked for, for its owner alone: the lines
// may name persons.
func newRejections(path string) (*rejections, error) {
	r := &rejections{}
	if path == "" {
		return r, nil
	}
	const ownerOnly = 0o600
	var err error
	if r.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, ownerOnly); err != nil {
		return nil, err
	}
	r.csv = csv.NewWriter(r.file)
	return r, r.csv.Write([]string{"line", "reason", "text"})
}

func (r *rejections) add(rejected []store.Rejection) {
	for _, line := range rejected {
		if len(r.shown) < shownRejections {
			r.shown = append(r.shown, line)
		}
		if r.csv != nil {
			_ = r.csv.Write([]string{strconv.Itoa(line.Line), line.Reason, line.Text}) // close tells of it
		}
	}
}

func (r *rejections) close() error {
	if r.csv == nil {
		return nil
	}
	r.csv.Flush()
	return errors.Join(r.csv.Error(), r.file.Close())
}

func (c *importFlags) report(p *program, i store.Import, rejected *rejections) error {
	words := "taken in"
	if i.IsDryRun {
		words = "read; nothing was changed"
	}
	err := c.tell(p, importedOf(i, rejected.shown), "%s %s: %d new, %d updated, %d unchanged, %d rejected.",
		strings.ToUpper(i.Kind[:1])+i.Kind[1:], words, i.Counts.New, i.Counts.Updated, i.Counts.Unchanged, i.Counts.Rejected)
	if err != nil || i.Counts.Rejected == 0 {
		return err
	}
	for _, line := range rejected.shown {
		fmt.Fprintf(p.stderr, "line %d: %s\n", line.Line, line.Reason)
	}
	if more := i.Counts.Rejected - len(rejected.shown); more > 0 && c.Rejected == "" {
		fmt.Fprintf(p.stderr, "and %d more; --rejected FILE writes all of them\n", more)
	}
	return &leftOver{fmt.Sprintf("%d lines were not taken", i.Counts.Rejected)}
}

// importedBody is what became of a file, for programs.
type importedBody struct {
	ID       uuid.UUID          `json:"id"`
	TenantID uuid.UUID          `json:"tenant_id"`
	Gateway  uuid.UUID          `json:"gateway_id"`
	Kind     string             `json:"kind"`
	Status   store.ImportStatus `json:"status"`
	DryRun   bool               `json:"dry_run"`
	Counts   map[string]int     `json:"counts"`
	Rejected []rejectedBody     `json:"rejected_lines"`
}

type rejectedBody struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

func importedOf(i store.Import, shown []store.Rejection) importedBody {
	body := importedBody{
		ID: i.ID, TenantID: i.TenantID, Gateway: i.GatewayID, Kind: i.Kind, Status: i.Status, DryRun: i.IsDryRun,
		Counts: map[string]int{
			"new": i.Counts.New, "updated": i.Counts.Updated, "unchanged": i.Counts.Unchanged, "rejected": i.Counts.Rejected,
		},
		Rejected: make([]rejectedBody, len(shown)),
	}
	for n, line := range shown {
		body.Rejected[n] = rejectedBody(line)
	}
	return body
}

type importListCommand struct {
	Kind    string `name:"kind" query:"kind" placeholder:"KIND" help:"transactions or chargebacks."`
	Status  string `name:"status" query:"status" placeholder:"STATUS" help:"running, completed or failed."`
	Gateway string `name:"gateway" short:"g" query:"gateway_id" placeholder:"ID" help:"Those of a gateway."`
	listFlags
}

func (c *importListCommand) Run(p *program) error {
	return c.list(p, c, "imports/", "id kind status dry_run counts.new counts.updated counts.unchanged counts.rejected created_at")
}

type importShowCommand struct{ recordFlags }

func (c *importShowCommand) Run(p *program) error { return c.show(p, "imports/") }
