package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"sepad/internal/vault"
)

// Store is the database of one installation.
type Store struct {
	engine engine
	// lagging serves reads that may be behind: a replica, or the engine itself.
	lagging     engine
	vault       *vault.Vault
	setups      cache[uuid.UUID, versionedSetup]
	credentials cache[string, Credential]
	queueLogger *slog.Logger
	onEvents    func(Endpoint)
}

// Options say how a database is opened.
type Options struct {
	// Vault seals IBANs and secrets.
	Vault *vault.Vault
	// ReplicaURL is a PostgreSQL standby for reads that may lag, "" for none.
	ReplicaURL string
	// MaxConnections bounds the PostgreSQL pool; 0 means a sensible number.
	MaxConnections int
	// Tracer takes the spans of statements; nil makes none.
	Tracer trace.TracerProvider
	// Logger takes what the queue has to say; nil drops it.
	Logger *slog.Logger
}

const defaultMaxConnections = 24

func (o Options) maxConnections() int {
	if o.MaxConnections > 0 {
		return o.MaxConnections
	}
	return defaultMaxConnections
}

// queueLogger passes on the queue's warnings: its ordinary talk is not ours.
func (o Options) queueLogger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(warningsOnly{o.Logger.Handler()})
}

type warningsOnly struct{ slog.Handler }

func (warningsOnly) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (h warningsOnly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warningsOnly{h.Handler.WithAttrs(attrs)}
}

func (h warningsOnly) WithGroup(name string) slog.Handler {
	return warningsOnly{h.Handler.WithGroup(name)}
}

// Open opens the database at a URL, "sqlite:PATH" or "postgres://…".
func Open(ctx context.Context, url string, opts Options) (*Store, error) {
	engine, err := openEngine(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	s := &Store{engine: engine, vault: opts.Vault, queueLogger: opts.queueLogger()}
	if err := s.openReplica(ctx, opts); err != nil {
		return nil, errors.Join(err, engine.close())
	}
	return s, nil
}

func openEngine(ctx context.Context, url string, opts Options) (engine, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(ctx, rest, opts)
	case "postgres", "postgresql":
		return openPostgres(ctx, url, opts)
	default:
		return nil, errors.New("a database address begins with sqlite: or postgres://")
	}
}

// Migrate brings the schema to this version. Two processes may do it at once.
func (s *Store) Migrate(ctx context.Context) error { return s.engine.migrate(ctx) }

// Pool describes the connections in use.
func (s *Store) Pool() PoolStats { return s.engine.pool() }

// Close ends every connection, after units of work under way.
func (s *Store) Close() error {
	err := s.engine.close()
	if s.HasReplica() {
		err = errors.Join(err, s.lagging.close())
	}
	return err
}

// Ready tells whether the database can be reached and has a schema that this
// version can use.
func (s *Store) Ready(ctx context.Context) error {
	versions, err := s.schemaVersions(ctx)
	if noSuchTable(err) {
		return errors.New("the database has no schema yet: run sepad migrate")
	}
	if err != nil {
		return fmt.Errorf("the database cannot be used: %w", err)
	}
	return versions.check()
}

// micros is how an instant is kept; a zero one is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// instant scans microseconds into a time; NULL is the zero time.
type instant struct{ to *time.Time }

func (i instant) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*i.to = time.Time{}
	case int64:
		*i.to = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("store: an instant cannot be read from %T", value)
	}
	return nil
}
