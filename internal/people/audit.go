package people

import "context"

// Chain gives every entry of the audit trail its place. Whoever reads the trail does so
// first, and a job does so now and then.
func (p *People) Chain(ctx context.Context) error {
	for {
		more, err := p.Store.ChainAudit(ctx)
		if err != nil || !more {
			return err
		}
	}
}
