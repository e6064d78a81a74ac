package main

import (
	"crypto/rand"
	"errors"
	"os"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/store"
)

// sandboxAccess is what sepad dev sets up by.
var sandboxAccess = config.Access{Environment: merchant.Sandbox}

type devCommand struct {
	Data  string   `name:"data" default:".sepad" placeholder:"FOLDER" help:"Where data and keys are kept between runs (default: .sepad)."`
	Apply []string `name:"apply" sep:"none" placeholder:"FILE" help:"Apply a resource file as well; may be given more than once."`
	config.Settings
}

func (devCommand) Help() string {
	return "Everything has a default here; all settings of serve are taken too. With a database named, it runs on that one."
}

func (c *devCommand) Run(p *program) error {
	c.Complete(os.Environ())
	if c.Environment != "" && c.Environment != string(merchant.Sandbox) {
		return errors.New("SEPAD_ENVIRONMENT: sepad dev is always a sandbox; use sepad serve for anything else")
	}
	folder, data := config.Folder(c.Data), c.Data
	if c.DatabaseURL != "" {
		data = "the database that was named"
	}
	cfg, err := c.config(folder)
	if err != nil {
		return err
	}
	s, err := p.start(cfg, true)
	if err != nil {
		return err
	}
	key, err := c.prepare(p, s.app.Store, folder)
	if err != nil {
		s.abandon()
		return err
	}
	dashboard, err := s.app.People.DeveloperLink(p.asUser())
	if err != nil {
		s.abandon()
		return err
	}
	secret, err := signingSecret(p, s.app.Store, merchant.DemoTenantID)
	if err != nil {
		secret = "(none: the demo shop has no default webhook profile)"
	}
	printWelcome(p.stdout, s.config, data, key, secret, dashboard)
	return s.serve(p.ctx)
}

// config takes from the folder what was not set.
func (c *devCommand) config(folder config.Folder) (config.Config, error) {
	var err error
	if c.Database, err = folder.Provide(c.Database); err != nil {
		return config.Config{}, err
	}
	if c.AdminToken == "" {
		if c.AdminToken, err = folder.AdminToken(rand.Text); err != nil {
			return config.Config{}, err
		}
	}
	if c.WebhookAllowPrivate == "" {
		c.WebhookAllowPrivate = "true" // a developer's receiver runs on the same machine
	}
	cfg, err := c.Config()
	cfg.OpenMetrics = true
	return cfg, err
}

// prepare sets up the demo shop and what the developer brings, and gives the
// key to the demo shop.
func (c *devCommand) prepare(p *program, st *store.Store, folder config.Folder) (merchant.Secret, error) {
	key, err := demoKey(p, st, folder)
	if err != nil {
		return "", err
	}
	for _, path := range c.Apply {
		text, err := p.readFile(path)
		if err != nil {
			return "", err
		}
		changes, err := applyFile(p.ctx, newApplier(st, sandboxAccess), path, text)
		if err != nil {
			return "", err
		}
		if setup.AnyChange(changes) {
			printChanges(p.stdout, changes)
		}
	}
	return key, nil
}

// demoKey gives the key that lies in the folder, so that a developer's scripts
// go on working after a restart. Where it is lost or was revoked, a new one is
// made; what else a developer has changed in the demo shop is left alone.
func demoKey(p *program, st *store.Store, folder config.Folder) (merchant.Secret, error) {
	newKey := func() string { return merchant.NewAPIKey(merchant.Sandbox) }
	text, err := folder.APIKey(newKey)
	if err != nil {
		return "", err
	}
	_, works, err := st.CredentialByKeyHash(p.ctx, merchant.HashAPIKey(text))
	if works || err != nil {
		return merchant.Secret(text), err
	}
	known, err := st.Tenant(merchant.DemoTenantID).KnowsKeyHash(p.ctx, merchant.HashAPIKey(text))
	if err != nil {
		return "", err
	}
	if known || !merchant.KeyFitsEnvironment(text, merchant.Sandbox) {
		if err := folder.ForgetAPIKey(); err != nil {
			return "", err
		}
		if text, err = folder.APIKey(newKey); err != nil {
			return "", err
		}
	}
	return merchant.Secret(text), applyDemo(p, st, merchant.Secret(text))
}

// applyDemo applies the demo file with a key, or of a demo shop that exists
// only the key.
func applyDemo(p *program, st *store.Store, key merchant.Secret) error {
	applier := newApplier(st, sandboxAccess)
	file, err := applier.Rules().ParseFile(merchant.DemoFileName, merchant.DemoFile)
	if err != nil {
		return err
	}
	demo := &file.Tenants[0]
	demo.APIKeys[0].Key = key
	stored, err := st.Tenant(demo.Tenant.ID).Tenant(p.ctx)
	switch {
	case err == nil:
		*demo = merchant.FileTenant{Line: demo.Line, Tenant: stored, APIKeys: demo.APIKeys}
	case !store.IsNotFound(err):
		return err
	}
	_, err = applier.Apply(p.ctx, file, clock.Real{}.Now())
	return err
}
