package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"sepad/internal/door"
)

const (
	// headerPatience and idlePatience end connections that hold a place and
	// say nothing.
	headerPatience = 10 * time.Second
	bodyPatience   = 30 * time.Second
	idlePatience   = 2 * time.Minute
	// answerMargin is what an answer may take beyond the gateway's own time.
	answerMargin = 30 * time.Second
	// listPatience is what a page of a listing may take.
	listPatience = 30 * time.Second
	// hangingMargin is for jobs of a process whose database cannot be used: they would wait for it in vain, and are
	// taken up again like those of one that was killed.
	hangingMargin = 3 * time.Second
	maxHeader     = 32 << 10
	// flushEvery is how often the last use of API keys is written.
	flushEvery = time.Minute
)

// Serve answers on a listener until ctx is done, and operators on another where they
// have one (nil otherwise). Then it takes no new requests, waits for those under way
// as long as a gateway may take, and stops the jobs.
func (a *App) Serve(ctx context.Context, listener, operators net.Listener) error {
	// Work under way must not end with ctx, only with its own end.
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if err := a.runner.Start(background); err != nil {
		return err
	}
	servers := []*http.Server{a.newServer(a.handler)}
	failed := make(chan error, 3)
	go func() { failed <- servers[0].Serve(atTheDoor(listener, a.doorman)) }()
	if operators != nil {
		second := a.newServer(a.operatorHandler)
		servers = append(servers, second)
		go func() { failed <- second.Serve(atTheDoor(operators, letIn)) }()
	}
	go a.flushKeyUses(background)
	go a.skew.watch(background)
	go a.guardFile(background, failed)
	var err error
	select {
	case <-ctx.Done():
		a.sayGoodbye(failed)
	case err = <-failed:
	}
	return errors.Join(err, a.stop(background, servers))
}

// sayGoodbye tells proxies that this process is leaving while it still answers.
func (a *App) sayGoodbye(failed <-chan error) {
	a.leaving.Store(true)
	if a.config.ShutdownDelay == 0 {
		return
	}
	timer := time.NewTimer(a.config.ShutdownDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-failed:
	}
}

// atTheDoor has connections pass a doorman.
func atTheDoor(listener net.Listener, doorman door.Doorman) net.Listener {
	return &door.Listener{Listener: listener, Doorman: doorman, Idle: idlePatience, Slow: headerPatience}
}

// letIn is the operators' doorman: they are not turned away, but whoever is refused by net/http hears the answer there too.
func letIn(answer []byte, _ door.Request) []byte { return answer }

func (a *App) newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerPatience, ReadTimeout: bodyPatience,
		WriteTimeout: a.config.GatewayTimeout + answerMargin, IdleTimeout: idlePatience, MaxHeaderBytes: maxHeader,
	}
}

// stop ends servers without cutting payments off.
func (a *App) stop(ctx context.Context, servers []*http.Server) (err error) {
	ctx, cancel := context.WithTimeout(ctx, a.config.GatewayTimeout+answerMargin)
	defer cancel()
	for _, server := range servers {
		err = errors.Join(err, server.Shutdown(ctx))
	}
	_, unready := a.readiness.prove(ctx, a.proveReady)
	if unready != nil {
		hanging, cancel := context.WithTimeout(ctx, hangingMargin)
		defer cancel()
		ctx = hanging
	}
	left := errors.Join(a.runner.Stop(ctx), a.keyUses.Flush(ctx, a.Store, a.world.Now()))
	if left != nil && unready != nil {
		// Nobody who told it to end can do better than to start it again.
		a.logger.WarnContext(ctx, "ended without the database: what was under way is taken up again", "error", left)
		return err
	}
	return errors.Join(err, left)
}

// flushKeyUses writes now and then when keys were last used.
func (a *App) flushKeyUses(ctx context.Context) {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := a.keyUses.Flush(ctx, a.Store, a.world.Now()); err != nil && ctx.Err() == nil {
				a.logger.WarnContext(ctx, "the last use of API keys could not be written", "error", err)
			}
		}
	}
}
