package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/config"
	"sepad/internal/privacy"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

type leadsCommand struct {
	List     leadsListCommand     `cmd:"" help:"List persons, the newest first."`
	Show     leadsShowCommand     `cmd:"" help:"Show one."`
	Timeline leadsTimelineCommand `cmd:"" help:"Show what happened to one, in order: all that they bought."`
	Export   leadsExportCommand   `cmd:"" help:"Print everything that is known of a person, as JSON."`
	Erase    leadsEraseCommand    `cmd:"" help:"Overwrite everything that names a person; amounts, dates and references stay."`
	Erased   leadsErasedCommand   `cmd:"" help:"Print by what erased persons are known again, for the restore of a backup."`
}

// personFlags name a person.
type personFlags struct {
	Who string `arg:"" placeholder:"ID|EMAIL" help:"The person: the id of a lead, or an email address."`
	tenantFlag
	dataFlags
}

// find opens the data and finds the person.
func (f personFlags) find(p *program, work func(*privacy.Privacy, *store.Person) error) error {
	return f.use(p, func(st *store.Store, access config.Access) error {
		pr, err := privacyOf(p, st, access)
		if err != nil {
			return err
		}
		id, isEmail := uuid.Nil, true
		if parsed, err := uuid.Parse(f.Who); err == nil {
			id, isEmail = parsed, false
		}
		var who *store.Person
		if isEmail {
			tenant, err := setup.FindTenant(p.ctx, st, f.Tenant)
			if err != nil {
				return err
			}
			who, err = st.Tenant(tenant.ID).PersonByEmail(p.ctx, strings.TrimSpace(f.Who))
			if err != nil {
				return err
			}
		} else {
			tenantID, err := st.LeadOwner(p.ctx, id)
			if err != nil {
				return err
			}
			if who, err = st.Tenant(tenantID).Person(p.ctx, id); err != nil {
				return err
			}
		}
		return work(pr, who)
	})
}

// privacyOf is the use case as a command runs it.
func privacyOf(p *program, st *store.Store, access config.Access) (*privacy.Privacy, error) {
	logger, err := web.NewLogger("", p.stderr)
	if err != nil {
		return nil, err
	}
	service, err := serviceClock(p, st, access)
	return &privacy.Privacy{Store: st, Clock: service, Logger: logger}, err
}

type leadsExportCommand struct{ personFlags }

func (leadsExportCommand) Help() string {
	return "It is what a person may ask for (GDPR, articles 15 and 20). The account number is written in full: hand it to nobody else. That it was read is logged on standard error."
}

func (c *leadsExportCommand) Run(p *program) error {
	return c.find(p, func(pr *privacy.Privacy, who *store.Person) error { return pr.Export(p.ctx, who, p.stdout) })
}

type leadsEraseCommand struct {
	Yes bool `name:"yes" short:"y" help:"Do not ask."`
	outputFlag
	personFlags
}

func (leadsEraseCommand) Help() string {
	return "Sessions that could be paid and subscriptions end. It is refused while money is open. What names the person cannot be brought back, the evidence of mandates included. Files that were exchanged with banks are kept for as long as SEPAD_RETAIN_BANK_FILES says."
}

func (c *leadsEraseCommand) Run(p *program) error {
	return c.find(p, func(pr *privacy.Privacy, who *store.Person) error {
		if !c.Yes && !confirmed(p, "Erase this person for good? Type yes: ") {
			return errors.New("nothing was erased")
		}
		done, err := pr.Erase(p.ctx, who)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(done)
		}
		fmt.Fprintf(p.stdout, "The person was erased from %d sessions, %d transactions, %d chargebacks and %d events; %d sessions and %d subscriptions were ended.\n",
			done.Sessions, done.Transactions, done.Chargebacks, done.Events, done.SessionsEnded, done.SubscriptionsEnded)
		if done.InBankFiles > 0 {
			fmt.Fprintf(p.stdout, "%d files that were exchanged with a bank still name the person and are kept, sealed, for as long as the law wants them.\n", done.InBankFiles)
		}
		return nil
	})
}

// confirmed asks on the terminal; where nobody can answer, the answer is no.
func confirmed(p *program, question string) bool {
	fmt.Fprint(p.stderr, question)
	answer, _ := bufio.NewReader(p.stdin).ReadString('\n')
	return strings.TrimSpace(answer) == "yes"
}

type leadsErasedCommand struct {
	Export string `name:"export" placeholder:"FILE" help:"Write to a file, which must not exist yet, instead of standard output."`
	outputFlag
	dataFlags
}

func (leadsErasedCommand) Help() string {
	return "The list names nobody: it has keyed hashes, and their keys as they are sealed in the database. sepad backup writes one beside each backup; make one after an erasure and keep it with them, and sepad restore erases these persons again."
}

func (c *leadsErasedCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		if c.Export == "" {
			_, err := privacy.WriteErased(p.ctx, st, p.stdout)
			return err
		}
		names, err := writeErased(p, st, c.Export)
		if err != nil {
			return err
		}
		return c.tell(p, map[string]any{"file": c.Export, "names": names}, "%s holds %d names of erased persons.", c.Export, names)
	})
}

// writeErased writes a list of erased persons into a new file that its owner alone
// can read.
func writeErased(p *program, st *store.Store, path string) (names int, err error) {
	const ownerOnly = 0o600
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return 0, err
	}
	names, err = privacy.WriteErased(p.ctx, st, file)
	return names, errors.Join(err, file.Sync(), file.Close())
}

// erasedBeside finds the lists in a backup's folder. Its name may hold any characters, and
// one that cannot be looked through is told: who was erased would come back.
func erasedBeside(backup string) (lists []string, err error) {
	folder := filepath.Dir(backup)
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), erasedSuffix) || entry.IsDir() {
			continue
		}
		list := filepath.Join(folder, entry.Name())
		about, err := os.Stat(list)
		if err != nil {
			return nil, err
		}
		if !about.Mode().IsRegular() { // a pipe would be waited for
			return nil, fmt.Errorf("%s is no file, and cannot be a list of erased persons: move it away", list)
		}
		lists = append(lists, list)
	}
	return lists, err
}

// readErased takes lists in.
func readErased(p *program, pr *privacy.Privacy, paths []string) error {
	for _, path := range paths {
		err := withFile(path, func(file io.Reader) error {
			_, err := pr.ReadErased(p.ctx, file)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func withFile(path string, work func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(work(bufio.NewReader(file)), file.Close())
}
