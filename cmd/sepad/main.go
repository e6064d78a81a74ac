// Command sepad is the program: a payment service for SEPA direct debits, and
// the operator's tools around it.
//
// Each command is a file of its own. It reads flags, calls the package that
// knows the rules, and prints. What went wrong is one line on standard error:
// exit code 1, or 2 for a command line that cannot be understood.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"sepad/internal/app"
	"sepad/internal/config"
	"sepad/internal/merchant"
)

const description = `SEPA direct debit payments, self-hosted.

Begin with "sepad dev": a sandbox with a demo shop, its data in .sepad/.`

// commands are what can be called; the tags are what --help shows.
type commands struct {
	Dev           devCommand           `cmd:"" help:"Start a sandbox for development: SQLite, a demo shop, nothing to set."`
	Serve         serveCommand         `cmd:"" help:"Start the service on the settings given."`
	Migrate       migrateCommand       `cmd:"" help:"Bring the database to this version."`
	Apply         applyCommand         `cmd:"" help:"Create or change what a resource file describes, and say what changed."`
	Keys          keysCommand          `cmd:"" help:"Create, list and revoke API keys."`
	Webhooks      webhooksCommand      `cmd:"" help:"List and resend webhook deliveries, check signatures."`
	Listen        listenCommand        `cmd:"" help:"Send a sandbox tenant's events to an address on this machine."`
	Trigger       triggerCommand       `cmd:"" help:"Make something happen in the sandbox, so that its event is sent."`
	Import        importCommand        `cmd:"" help:"Take in a processor's CSV of payments or chargebacks."`
	Reconcile     reconcileCommand     `cmd:"" help:"Hold a processor's file against our records, and settle what it proves."`
	Export        exportCommand        `cmd:"" help:"Write every record of a range of days, however many they are."`
	Totals        totalsCommand        `cmd:"" help:"Show what each day brought: collected, given back, charged back, fees."`
	Payouts       payoutsCommand       `cmd:"" help:"Show what banks have booked for each day, and what they kept."`
	Refund        refundCommand        `cmd:"" help:"Give a payment back, wholly or in part."`
	Transactions  transactionsCommand  `cmd:"" help:"List, show and refund payments."`
	Sessions      sessionsCommand      `cmd:"" help:"List payment sessions, show what happened to them."`
	Chargebacks   chargebacksCommand   `cmd:"" help:"List and show chargebacks, record one by hand."`
	Subscriptions subscriptionsCommand `cmd:"" help:"List subscriptions, preview their billing dates, cancel them."`
	Gateways      gatewaysCommand      `cmd:"" help:"Show adapters and what accounts work with; list accounts whose rebills are paused, resume them."`
	Mandates      mandatesCommand      `cmd:"" help:"Show the evidence of a mandate that a payer accepted."`
	Audit         auditCommand         `cmd:"" help:"List what people did, prove that the record of it is whole."`
	Operators     operatorsCommand     `cmd:"" help:"Add, list, change and remove the people who work here, make tokens for their programs."`
	Leads         leadsCommand         `cmd:"" help:"List and show persons, export or erase what is known of them."`
	Events        eventsCommand        `cmd:"" help:"List, show and resend events, print them as they happen."`
	Tenants       tenantsCommand       `cmd:"" help:"List, show, add and change tenants."`
	Setup         setupCommand         `cmd:"" help:"List, show, add and change what tenants have set up: gateways, offers, campaigns, pages, webhook profiles."`
	Backup        backupCommand        `cmd:"" help:"Copy the whole database into one encrypted file, while the service runs."`
	Restore       restoreCommand       `cmd:"" help:"Make a database of a backup again."`
	Move          moveCommand          `cmd:"" help:"Copy everything into another database, from SQLite to PostgreSQL or back."`
	Clock         clockCommand         `cmd:"" help:"Show the sandbox's clock, or move it forward."`
	TestIBANs     testIBANsCommand     `cmd:"" name:"test-ibans" help:"List the sandbox's IBANs and what happens to their payments."`
	Mails         mailsCommand         `cmd:"" help:"List, show and resend mails to payers."`
	Bank          bankCommand          `cmd:"" help:"Collect through a merchant's own bank: files out, answers in."`
	Banks         banksCommand         `cmd:"" help:"Check or build a bank directory."`
	Admin         adminCommand         `cmd:"" help:"Ask the admin API whatever no other command asks."`
	Docs          docsCommand          `cmd:"" help:"Write the documentation as static files; the service has it at /docs/."`
	Completion    completionCommand    `cmd:"" help:"Print what has bash, zsh or fish complete commands."`
	Version       versionCommand       `cmd:"" help:"Show the version of this program; so does --version."`
}

const (
	exitFailed     = 1
	exitWrongUsage = 2
	// exitLeftOver tells that the work was done and something needs a person.
	exitLeftOver = 3
)

// program is what commands have of the world.
type program struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	// service is what a service is given beside its settings: nothing, but in tests
	// of machines whose clocks are wrong.
	service app.Options
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// From the first signal on the default is back: a second one ends at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(&program{ctx: ctx, stdin: os.Stdin, stdout: plainAt(os.Stdout), stderr: os.Stderr}, os.Args[1:]))
}

func run(p *program, args []string) int {
	if len(args) > 0 && args[0] == "--version" {
		args = append([]string{"version"}, args[1:]...)
	}
	parser, err := kong.New(grammar(args), kong.Name("sepad"), kong.Description(description),
		kong.Writers(p.stdout, p.stderr), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return p.fail(err, exitFailed)
	}
	if len(args) > 0 && args[0] == askedByShell {
		return p.complete(parser.Model.Node, args[1:])
	}
	chosen, err := parser.Parse(args)
	if err != nil {
		return p.fail(fmt.Errorf("%w (see %s --help)", err, asked(err)), exitWrongUsage)
	}
	if err := chosen.Run(p); err != nil {
		if _, isLeft := errors.AsType[*leftOver](err); isLeft {
			return p.fail(err, exitLeftOver)
		}
		return p.fail(err, exitFailed)
	}
	return 0
}

// grammar has the one command that is asked for, or all of them where none is: what kong makes of each takes longer
// than most of them run.
func grammar(args []string) any {
	for field := range reflect.TypeFor[commands]().Fields() {
		if len(args) > 0 && args[0] == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) {
			return reflect.New(reflect.StructOf([]reflect.StructField{field})).Interface()
		}
	}
	return &commands{}
}

// leftOver ends a command whose work is done but for what needs a person.
type leftOver struct{ sentence string }

func (l *leftOver) Error() string { return l.sentence }

// asked is the command that a mistaken line came closest to.
func asked(err error) string {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok || parse.Context == nil || parse.Context.Command() == "" {
		return "sepad"
	}
	words := strings.Fields(parse.Context.Command())
	for i, word := range words {
		if strings.HasPrefix(word, "<") {
			words = words[:i]
			break
		}
	}
	return strings.Join(append([]string{"sepad"}, words...), " ")
}

// fail prints one line; only bad settings and the mistakes of a resource file,
// which stand in different lines themselves, have one each.
func (p *program) fail(err error, code int) int {
	if wrong, ok := errors.AsType[*merchant.FileError](err); ok {
		fmt.Fprintln(p.stderr, wrong)
		return code
	}
	if wrong, ok := errors.AsType[config.Errors](err); ok {
		for _, sentence := range wrong {
			fmt.Fprintln(p.stderr, "sepad: "+sentence)
		}
		return code
	}
	var parts []string
	for line := range strings.Lines(err.Error()) {
		parts = append(parts, strings.TrimRight(strings.TrimSpace(line), ":"))
	}
	fmt.Fprintln(plain{p.stderr}, "sepad: "+strings.Join(parts, ": "))
	return code
}
