package store

import "context"

// openReplica opens the standby that reads go to which may be a little behind.
// Without one they go where everything goes.
func (s *Store) openReplica(ctx context.Context, opts Options) (err error) {
	s.lagging = s.engine
	if opts.ReplicaURL != "" {
		s.lagging, err = openEngine(ctx, opts.ReplicaURL, opts)
	}
	return err
}

// HasReplica tells whether some reads go elsewhere.
func (s *Store) HasReplica() bool { return s.lagging != s.engine }

// ReplicaPool describes the connections to the replica.
func (s *Store) ReplicaPool() PoolStats { return s.lagging.pool() }
