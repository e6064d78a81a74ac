package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"text/tabwriter"

	"sepad/internal/admin"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/people"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

type operatorsCommand struct {
	Add    operatorsAddCommand    `cmd:"" help:"Add a person and print the link that lets them in, once."`
	List   operatorsListCommand   `cmd:"" help:"List everybody with role and tenants."`
	Role   operatorsRoleCommand   `cmd:"" help:"Give a person another role, or other tenants."`
	Reset  operatorsResetCommand  `cmd:"" help:"Take password, second factor, sessions and tokens from a person, and print a new link."`
	Remove operatorsRemoveCommand `cmd:"" help:"Take a person out, at once."`
	Token  operatorsTokenCommand  `cmd:"" help:"Make a token for a person's programs and print it, this once."`
	Tokens operatorsTokensCommand `cmd:"" help:"List the tokens of a person's programs."`
	Revoke operatorsRevokeCommand `cmd:"" name:"revoke-token" help:"End a token of a person's programs, at once."`
}

// asUser is a context in which the audit trail names who runs the command.
func (p *program) asUser() context.Context {
	return store.WithActor(p.ctx, store.Actor{Name: commandUser()})
}

// commandUser is how the trail names who runs the command.
func commandUser() string {
	if u, err := user.Current(); err == nil {
		return "cli:" + u.Username
	}
	return "cli:unknown"
}

// operatorFlags find the data and where the dashboard is.
type operatorFlags struct {
	outputFlag
	config.Addresses
	dataFlags
}

// with opens the data for work on people.
func (f operatorFlags) with(p *program, work func(*people.People, *store.Store) error) error {
	return f.use(p, func(st *store.Store, access config.Access) error {
		return work(&people.People{Store: st, Clock: clock.Real{}, URL: f.Dashboard(), Environment: access.Environment}, st)
	})
}

// withOne does the same for work on one person.
func (f operatorFlags) withOne(p *program, email string, work func(*people.People, *store.Store, store.Operator) error) error {
	return f.with(p, func(persons *people.People, st *store.Store) error {
		o, err := st.OperatorByEmail(p.ctx, strings.TrimSpace(email))
		if errors.Is(err, store.ErrNoOperator) {
			return fmt.Errorf("nobody has the address %q", email)
		}
		if err != nil {
			return err
		}
		return work(persons, st, o)
	})
}

// show prints one person, with the link that lets them in where there is one.
func (f operatorFlags) show(p *program, o store.Operator, link people.Link, did string) error {
	if f.JSON {
		return p.printJSON(admin.OperatorOf(o, link))
	}
	if link.URL != "" {
		fmt.Fprintln(p.stdout, link.URL)
	}
	fmt.Fprintf(p.stderr, "%s (%s, %s) %s.\n", o.Email, o.Role, tenantsText(o.Tenants), did)
	return nil
}

func tenantsText(t store.TenantSet) string {
	if t.All {
		return "all tenants"
	}
	return strings.Join(people.TenantNames(t), ", ")
}

// boundTo finds the tenants that were named: all where none was.
func boundTo(p *program, st *store.Store, named []string) (store.TenantSet, error) {
	set := store.TenantSet{All: len(named) == 0}
	for _, which := range named {
		tenant, err := setup.FindTenant(p.ctx, st, which)
		if err != nil {
			return set, err
		}
		set.IDs = append(set.IDs, tenant.ID)
	}
	return set, nil
}

type operatorsAddCommand struct {
	Email  string   `arg:"" help:"The person's email address."`
	Role   string   `name:"role" required:"" enum:"viewer,support,finance,admin" help:"viewer looks, support also resends and cancels, finance also refunds and exchanges files, admin does everything."`
	Tenant []string `name:"tenant" short:"t" sep:"none" placeholder:"ID|NAME" help:"A tenant that the person works for, by id or name; may be given several times (default: all tenants)."`
	operatorFlags
}

func (operatorsAddCommand) Help() string {
	return "Standard output has nothing but the link. It is good for an hour and opens once: there the person sets a password and a second factor."
}

func (c *operatorsAddCommand) Run(p *program) error {
	if !web.IsEmail(strings.TrimSpace(c.Email)) {
		return fmt.Errorf("%q is not an email address", c.Email)
	}
	return c.with(p, func(persons *people.People, st *store.Store) error {
		tenants, err := boundTo(p, st, c.Tenant)
		if err != nil {
			return err
		}
		o, link, err := persons.Add(p.ctx, c.Email, store.Role(c.Role), tenants)
		if err != nil {
			return err
		}
		return c.show(p, o, link, "was added. The link is good for an hour, once")
	})
}

type operatorsListCommand struct{ operatorFlags }

func (c *operatorsListCommand) Run(p *program) error {
	return c.with(p, func(_ *people.People, st *store.Store) error {
		all, err := st.Operators(p.ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			bodies := make([]admin.OperatorBody, len(all))
			for i, o := range all {
				bodies[i] = admin.OperatorOf(o, people.Link{})
			}
			return p.printJSON(bodies)
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "EMAIL\tROLE\tTENANTS\tSTATUS\tADDED\tID")
		for _, o := range all {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", o.Email, o.Role, tenantsText(o.Tenants), o.Status, day(o.CreatedAt), o.ID)
		}
		return table.Flush()
	})
}

type operatorsRoleCommand struct {
	Email  string   `arg:"" help:"The person's email address."`
	Role   string   `arg:"" enum:"viewer,support,finance,admin" help:"viewer, support, finance or admin."`
	Tenant []string `name:"tenant" short:"t" sep:"none" placeholder:"ID|NAME" help:"A tenant that the person works for from now on; may be given several times. Without it, the tenants stay."`
	All    bool     `name:"all-tenants" help:"The person works for all tenants from now on."`
	operatorFlags
}

func (c *operatorsRoleCommand) Run(p *program) error {
	return c.withOne(p, c.Email, func(persons *people.People, st *store.Store, o store.Operator) error {
		tenants, err := boundTo(p, st, c.Tenant)
		if err != nil {
			return err
		}
		o, err = persons.Change(p.ctx, o.ID, func(o *store.Operator) {
			o.Role = store.Role(c.Role)
			if c.All || len(c.Tenant) > 0 {
				o.Tenants = tenants
			}
		})
		if err != nil {
			return err
		}
		return c.show(p, o, people.Link{}, "was changed, from the next call on")
	})
}

type operatorsResetCommand struct {
	Email string `arg:"" help:"The person's email address."`
	operatorFlags
}

func (c *operatorsResetCommand) Run(p *program) error {
	return c.withOne(p, c.Email, func(persons *people.People, _ *store.Store, o store.Operator) error {
		o, link, err := persons.Reset(p.ctx, o.ID)
		if err != nil {
			return err
		}
		return c.show(p, o, link, "was reset: sessions and tokens have ended. The link is good for an hour, once")
	})
}

type operatorsRemoveCommand struct {
	Email string `arg:"" help:"The person's email address."`
	operatorFlags
}

func (c *operatorsRemoveCommand) Run(p *program) error {
	return c.withOne(p, c.Email, func(persons *people.People, _ *store.Store, o store.Operator) error {
		if _, err := persons.Remove(p.ctx, o.ID); err != nil {
			return err
		}
		return c.show(p, o, people.Link{}, "was removed")
	})
}
