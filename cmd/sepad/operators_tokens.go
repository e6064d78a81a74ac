package main

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/admin"
	"sepad/internal/people"
	"sepad/internal/store"
)

type operatorsTokenCommand struct {
	Email string `arg:"" help:"The person's email address."`
	Name  string `name:"name" required:"" help:"What the token is for, such as nightly-export."`
	Days  int    `name:"days" default:"90" help:"Days until it ends, 366 at most (default: 90)."`
	operatorFlags
}

func (operatorsTokenCommand) Help() string {
	return "Standard output has nothing but the token. Whoever brings it to the admin API has the person's rights."
}

func (c *operatorsTokenCommand) Run(p *program) error {
	const day = 24 * time.Hour
	return c.withOne(p, c.Email, func(persons *people.People, _ *store.Store, o store.Operator) error {
		t, text, err := persons.CreateToken(p.ctx, o, c.Name, persons.Clock.Now().Add(time.Duration(c.Days)*day))
		if err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(admin.TokenOf(t, text))
		}
		fmt.Fprintln(p.stdout, text.Reveal())
		fmt.Fprintf(p.stderr, "Token %q of %s was made (id %s), good until %s. It cannot be shown again.\n", t.Name, o.Email, t.ID, t.ExpiresAt.Format(time.DateOnly))
		return nil
	})
}

type operatorsTokensCommand struct {
	Email string `arg:"" help:"The person's email address."`
	operatorFlags
}

func (c *operatorsTokensCommand) Run(p *program) error {
	return c.withOne(p, c.Email, func(_ *people.People, st *store.Store, o store.Operator) error {
		tokens, err := st.OperatorTokens(p.ctx, o.ID)
		if err != nil {
			return err
		}
		bodies, rows := make([]admin.TokenBody, len(tokens)), make([][]string, len(tokens))
		for i, t := range tokens {
			bodies[i] = admin.TokenOf(t, "")
			used := "never"
			if !t.LastUsedAt.IsZero() {
				used = day(t.LastUsedAt)
			}
			rows[i] = []string{t.ID.String(), t.Name, day(t.CreatedAt), day(t.ExpiresAt), used}
		}
		if c.JSON {
			return p.printJSON(bodies)
		}
		return p.printTable([]string{"ID", "NAME", "MADE", "GOOD UNTIL", "LAST USED"}, rows)
	})
}

type operatorsRevokeCommand struct {
	Email string `arg:"" help:"The person's email address."`
	ID    string `arg:"" help:"The token, by its id."`
	operatorFlags
}

func (c *operatorsRevokeCommand) Run(p *program) error {
	id, err := uuid.Parse(c.ID)
	if err != nil {
		return fmt.Errorf("%q is no id of a token", c.ID)
	}
	return c.withOne(p, c.Email, func(persons *people.People, _ *store.Store, o store.Operator) error {
		if err := persons.RevokeToken(p.ctx, o, id); err != nil {
			return err
		}
		return c.tell(p, map[string]any{"id": id, "revoked": true}, "%s opens nothing any more.", id)
	})
}
