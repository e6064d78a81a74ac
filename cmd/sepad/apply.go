package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/gateway/adapters"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/store"
)

type applyCommand struct {
	File   string `name:"file" short:"f" required:"" placeholder:"FILE" help:"Resource file in YAML; - reads standard input."`
	DryRun bool   `name:"dry-run" help:"Say what would change, and change nothing."`
	outputFlag
	dataFlags
}

func (applyCommand) Help() string {
	return "The file takes effect as a whole or not at all. Applying it again changes nothing, and what it does not mention is left alone."
}

func (c *applyCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, access config.Access) error {
		text, err := p.readFile(c.File)
		if err != nil {
			return err
		}
		applier := newApplier(st, access)
		file, err := applier.Rules().ParseFile(c.File, text)
		if err != nil {
			return err
		}
		do := applier.Apply
		if c.DryRun {
			do = applier.Preview
		}
		changes, err := do(p.ctx, file, clock.Real{}.Now())
		if err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(appliedOf(changes, c.DryRun))
		}
		printChanges(p.stdout, changes)
		if c.DryRun {
			fmt.Fprintln(p.stdout, "Nothing was changed.")
		}
		return nil
	})
}

// appliedBody is what a resource file has changed, for programs.
type appliedBody struct {
	DryRun  bool         `json:"dry_run"`
	Changes []changeBody `json:"changes"`
}

type changeBody struct {
	Action setup.Action        `json:"action"`
	Kind   merchant.RecordKind `json:"kind"`
	ID     uuid.UUID           `json:"id"`
	Name   string              `json:"name"`
	// Secret was made just now, and is shown nowhere else.
	Secret string `json:"secret,omitempty"`
	Note   string `json:"note,omitempty"`
}

func appliedOf(changes []setup.Change, isDryRun bool) appliedBody {
	body := appliedBody{DryRun: isDryRun, Changes: make([]changeBody, len(changes))}
	for i, c := range changes {
		body.Changes[i] = changeBody{Action: c.Action, Kind: c.Kind, ID: c.ID, Name: c.Name, Secret: c.Secret.Reveal(), Note: c.Note}
	}
	return body
}

func (p *program) readFile(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(p.stdin)
	}
	return os.ReadFile(path)
}

// applyFile reads a resource file and brings the database to it.
func applyFile(ctx context.Context, applier *setup.Applier, name string, text []byte) ([]setup.Change, error) {
	file, err := applier.Rules().ParseFile(name, text)
	if err != nil {
		return nil, err
	}
	return applier.Apply(ctx, file, clock.Real{}.Now())
}

// newApplier knows the adapters that this program has.
func newApplier(st *store.Store, access config.Access) *setup.Applier {
	return &setup.Applier{
		Store: st, Kinds: adapters.All(ledgerdb.New(st.DB, access.Vault), sandbox.Options{}),
		Environment: access.Environment, AllowTestGateways: access.AllowTestGateways,
	}
}

// printChanges lists what is new or worth a word, and counts the rest.
func printChanges(w io.Writer, changes []setup.Change) {
	counts := map[setup.Action]int{}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range changes {
		counts[c.Action]++
		if c.Action != setup.Unchanged || c.Note != "" {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", c.Action, c.Kind, c.Name, c.ID)
		}
		if !c.Secret.IsZero() {
			fmt.Fprintf(table, "\t%s\t%s\n", secretLabel(c.Kind), c.Secret.Reveal())
		}
		if c.Note != "" {
			fmt.Fprintf(table, "\tnote\t%s\n", c.Note)
		}
	}
	_ = table.Flush() // a failed write to the terminal has nobody to be told to
	fmt.Fprintf(w, "%d created, %d changed, %d unchanged\n",
		counts[setup.Created], counts[setup.Changed], counts[setup.Unchanged])
}

func secretLabel(kind merchant.RecordKind) string {
	if kind == setup.KindAPIKey {
		return "key, shown once"
	}
	return "signing secret, shown once"
}
