package main

import (
	"fmt"

	"sepad/internal/config"
	"sepad/internal/people"
	"sepad/internal/store"
)

type auditCommand struct {
	List   auditListCommand   `cmd:"" help:"List what people did, the newest first."`
	Verify auditVerifyCommand `cmd:"" help:"Read the chain of the audit trail from its beginning; exit code 1 names the first broken entry."`
}

type auditListCommand struct {
	Actor      string `name:"actor" query:"actor" placeholder:"WHO" help:"What one has done: operator:EMAIL, token:NAME, cli:USER or root."`
	Action     string `name:"action" query:"action" placeholder:"DEED" help:"One kind of deed, such as refund.create."`
	ObjectType string `name:"object-type" query:"object_type" placeholder:"KIND" help:"Deeds on one kind of record, such as operator."`
	ObjectID   string `name:"object-id" query:"object_id" placeholder:"ID" help:"Deeds on one record."`
	listFlags
}

func (c *auditListCommand) Run(p *program) error {
	return c.list(p, c, "audit/", "at actor address action object_type object_id tenant_id place")
}

type auditVerifyCommand struct {
	Expect string `name:"expect" placeholder:"HASH" help:"A hash that was printed before: exit code 1 when no entry has it any more."`
	JSON   bool   `name:"json" help:"As JSON."`
	dataFlags
}

func (auditVerifyCommand) Help() string {
	return "Each entry has a hash of all it says and of the entry before. Keep the last hash that is printed somewhere else: whoever can rewrite the whole database could rewrite the whole chain, but not what you wrote down. --expect takes it back: a trail that was rewritten, or cut short by a restored backup, no longer has it."
}

// chainBody is what a proof has found.
type chainBody struct {
	Entries int64  `json:"entries"`
	Hash    string `json:"hash"`
}

func (c *auditVerifyCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		if err := (&people.People{Store: st}).Chain(p.ctx); err != nil {
			return err
		}
		entries, hash, err := st.VerifyAudit(p.ctx)
		if err != nil {
			return err
		}
		if err := c.expect(p, st); err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(chainBody{entries, hash})
		}
		fmt.Fprintf(p.stdout, "The audit trail is whole: %d entries, the last hash is %s.\n", entries, hash)
		return nil
	})
}

// expect looks for the entry that was the last one when somebody wrote its hash down.
func (c *auditVerifyCommand) expect(p *program, st *store.Store) error {
	if c.Expect == "" {
		return nil
	}
	place, err := st.AuditPlace(p.ctx, c.Expect)
	if err == nil && place == 0 {
		err = fmt.Errorf("the audit trail has no entry with the hash %s any more: it was written anew, or ends earlier, as after a restored backup", c.Expect)
	}
	return err
}
