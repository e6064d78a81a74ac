package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"syscall"

	"sepad/internal/app"
	"sepad/internal/config"
	"sepad/internal/web"
)

type serveCommand struct {
	config.Settings
	NoMigrate bool `name:"no-migrate" help:"Leave the database's schema as it is; a start on an old one is refused."`
}

func (serveCommand) Help() string {
	return "Several processes on one PostgreSQL database are one service. Payments under way are finished before the process ends on SIGTERM or Ctrl-C."
}

func (c *serveCommand) Run(p *program) error {
	c.Complete(os.Environ())
	cfg, err := c.Config()
	if err != nil {
		return err
	}
	s, err := p.start(cfg, !c.NoMigrate)
	if err != nil {
		return err
	}
	return s.serve(p.ctx)
}

// server is a service that is ready to answer.
type server struct {
	app      *app.App
	config   config.Config
	listener net.Listener
	// operators is where operators are answered, nil for beside everything else.
	operators net.Listener
	logger    *slog.Logger
}

// start takes the address before it touches the database, so that a mistyped
// port changes nothing.
func (p *program) start(cfg config.Config, migrate bool) (*server, error) {
	logger, err := web.NewLogger(cfg.LogFormat, p.stderr)
	if err != nil {
		return nil, err
	}
	log.SetFlags(0) // what libraries have to say goes through the same masks and has the same form
	log.SetOutput(web.Others(logger))
	listener, err := listen(p.ctx, cfg.Listen)
	if err != nil {
		return nil, err
	}
	s := &server{listener: listener, logger: logger}
	if cfg.OperatorListen != "" {
		if s.operators, err = listen(p.ctx, cfg.OperatorListen); err != nil {
			listener.Close()
			return nil, fmt.Errorf("SEPAD_OPERATOR_LISTEN: %w", err)
		}
	}
	s.config = cfg.ReachedAt(listener.Addr())
	options := p.service
	options.Version, options.Logger, options.Migrate = programVersion(), logger, migrate
	s.app, err = app.New(p.ctx, s.config, options)
	if err != nil {
		s.hangUp()
		return nil, err
	}
	return s, nil
}

// hangUp lets go of the addresses.
func (s *server) hangUp() {
	s.listener.Close()
	if s.operators != nil {
		s.operators.Close()
	}
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another process: choose another address with --listen or SEPAD_LISTEN", address)
	case err != nil:
		return nil, fmt.Errorf("SEPAD_LISTEN: %w", err)
	}
	return listener, nil
}

// serve answers until it is told to stop.
func (s *server) serve(ctx context.Context) error {
	if os.Getenv("GOGC") == "" { // whoever sets it knows better
		tendHeap(ctx)
	}
	about := []any{
		"address", s.listener.Addr().String(), "public_url", s.config.PublicURL,
		"environment", string(s.config.Environment), "version", programVersion(),
	}
	if s.operators != nil {
		about = append(about, "operator_address", s.operators.Addr().String())
	}
	s.logger.InfoContext(ctx, "ready", about...)
	if s.app.Store.UpgradeIsOpen() {
		s.logger.WarnContext(ctx, "an upgrade is not finished: everything is still written so that the version before can read it; once no process of it runs, run sepad migrate --finish")
	}
	err := s.app.Serve(ctx, s.listener, s.operators)
	s.logger.InfoContext(ctx, "stopped")
	return errors.Join(err, s.app.Close())
}

// abandon lets go of a service that will not answer after all.
func (s *server) abandon() {
	s.hangUp()
	_ = s.app.Close() // why it was abandoned says more
}
