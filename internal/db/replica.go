package db

import "context"

// openReplica opens the standby that reads go to which may be a little behind.
// Without one they go where everything goes.
func (d *DB) openReplica(ctx context.Context, opts Options) (err error) {
	d.lagging = d.engine
	if opts.ReplicaURL != "" {
		d.lagging, err = openEngine(ctx, opts.ReplicaURL, opts)
	}
	return err
}

// HasReplica tells whether some reads go elsewhere.
func (d *DB) HasReplica() bool { return d.lagging != d.engine }

// ReplicaPool describes the connections to the replica.
func (d *DB) ReplicaPool() PoolStats { return d.lagging.pool() }
