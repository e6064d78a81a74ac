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
	Rejected string `name:"rejected" placeholder:"FILE" help:"Write the lines that were not taken to this CSV file, with the reasons."`
	dataFlags
}

func (importFlags) Help() string {
	return "Columns are found by their names in the first line: those of the reconciliation records, or the processor's own. " +
		"What is known already changes nothing, so that a file that was broken off is simply taken in again."
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
		result, err := importer.Import(p.ctx, recon.ImportRequest{
			TenantID: setup.Tenant.ID, GatewayID: gatewayID, Kind: kind, File: file, IsDryRun: c.DryRun, SendsEvents: c.Events,
		})
		done()
		if err != nil {
			return err
		}
		return c.tell(p, st, result)
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

func (c *importFlags) tell(p *program, st *store.Store, i store.Import) error {
	words := "taken in"
	if i.IsDryRun {
		words = "read; nothing was changed"
	}
	fmt.Fprintf(p.stdout, "%s %s: %d new, %d updated, %d unchanged, %d rejected.\n",
		strings.ToUpper(i.Kind[:1])+i.Kind[1:], words, i.Counts.New, i.Counts.Updated, i.Counts.Unchanged, i.Counts.Rejected)
	if c.Rejected != "" {
		if err := writeRejected(p, st, i, c.Rejected); err != nil {
			return err
		}
	}
	rejected, err := st.Tenant(i.TenantID).Rejections(p.ctx, i.ID, 0, shownRejections)
	for _, line := range rejected {
		fmt.Fprintf(p.stderr, "line %d: %s\n", line.Line, line.Reason)
	}
	if more := i.Counts.Rejected - len(rejected); more > 0 && c.Rejected == "" {
		fmt.Fprintf(p.stderr, "and %d more; --rejected FILE writes all of them\n", more)
	}
	return err
}

func writeRejected(p *program, st *store.Store, i store.Import, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := csv.NewWriter(file)
	_ = out.Write([]string{"line", "reason"}) // Error tells of it
	for after := 0; ; {
		const page = 1000
		rejected, err := st.Tenant(i.TenantID).Rejections(p.ctx, i.ID, after, page)
		if err != nil || len(rejected) == 0 {
			out.Flush()
			return errors.Join(err, out.Error(), file.Close())
		}
		for _, line := range rejected {
			_ = out.Write([]string{strconv.Itoa(line.Line), line.Reason})
			after = line.Line
		}
	}
}
