package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

type setupCommand struct {
	List       setupListCommand       `cmd:"" help:"List what a tenant has set up of one kind."`
	Show       setupShowCommand       `cmd:"" help:"Show one of them."`
	Add        setupAddCommand        `cmd:"" help:"Add one of its fields."`
	Change     setupChangeCommand     `cmd:"" help:"Change fields of one of them."`
	Deactivate setupDeactivateCommand `cmd:"" help:"Switch one of them off; nothing that used it is lost."`
}

func (setupCommand) Help() string {
	return "Many at once are described in a resource file: sepad apply."
}

// kindFlags name a kind of record that a tenant sets up.
type kindFlags struct {
	Kind string `arg:"" enum:"gateways,webhook-profiles,hosted-pages,offers,campaigns" help:"gateways, webhook-profiles, hosted-pages, offers or campaigns."`
	oneTenantFlags
}

// with opens the data and finds the kind's place in the API.
func (f kindFlags) with(p *program, work func(o *office, path string) error) error {
	return f.oneTenantFlags.with(p, func(o *office, path string) error { return work(o, path+f.Kind+"/") })
}

type setupListCommand struct{ kindFlags }

func (c *setupListCommand) Run(p *program) error {
	columns := map[string]string{
		"gateways": "id name adapter test_mode active", "webhook-profiles": "id name url events default active", "hosted-pages": "id name active",
		"offers": "id name price+currency billing_type billing_frequency active", "campaigns": "id name offer_id gateway_id hosted_page_id active",
	}
	return c.with(p, func(o *office, path string) error { return o.print(path, nil, 0, c.JSON, columns[c.Kind]) })
}

// setupFlags name one record.
type setupFlags struct {
	kindFlags
	ID string `arg:"" help:"Which one, by its id."`
}

type setupShowCommand struct{ setupFlags }

func (c *setupShowCommand) Run(p *program) error {
	return c.with(p, func(o *office, path string) error { return o.show(path+url.PathEscape(c.ID)+"/", c.JSON) })
}

type setupAddCommand struct {
	kindFlags
	Fields []string `arg:"" name:"field" placeholder:"NAME=VALUE" help:"Fields as in the resource file; a value that is JSON is taken as such."`
}

func (setupAddCommand) Help() string {
	return "A webhook profile's signing secret is shown with its creation, and never again."
}

func (c *setupAddCommand) Run(p *program) error {
	return c.with(p, func(o *office, path string) error { return o.put(http.MethodPost, path, c.Fields, c.JSON) })
}

type setupChangeCommand struct {
	setupFlags
	Fields []string `arg:"" name:"field" placeholder:"NAME=VALUE" help:"Fields as in the resource file; a value that is JSON is taken as such."`
}

func (c *setupChangeCommand) Run(p *program) error {
	return c.with(p, func(o *office, path string) error {
		return o.put(http.MethodPatch, path+url.PathEscape(c.ID)+"/", c.Fields, c.JSON)
	})
}

type setupDeactivateCommand struct{ setupFlags }

func (c *setupDeactivateCommand) Run(p *program) error {
	return c.with(p, func(o *office, path string) error {
		if _, err := o.ask(http.MethodDelete, path+url.PathEscape(c.ID)+"/", nil, nil); err != nil {
			return err
		}
		return c.tell(p, map[string]any{"id": c.ID, "active": false}, "%s is switched off.", c.ID)
	})
}

// adminCommand reaches whatever no other command does.
type adminCommand struct {
	Method string   `arg:"" enum:"GET,POST,PATCH,DELETE" help:"GET, POST, PATCH or DELETE."`
	Path   string   `arg:"" help:"What is asked for, such as transactions/ or tenants/ID/offers/."`
	Fields []string `arg:"" optional:"" name:"field" placeholder:"NAME=VALUE" help:"Parameters of a GET, fields of a body otherwise; a value that is JSON is taken as such."`
	Body   string   `name:"body" placeholder:"FILE" help:"The body as JSON; - reads standard input."`
	dataFlags
}

func (adminCommand) Help() string {
	return "The answer is printed as it is. It is asked in this process and on this database: no server has to run, and no token is needed. Files are taken in by sepad import and sepad bank read."
}

func (c *adminCommand) Run(p *program) error {
	return c.office(p, func(o *office) error {
		fields, err := fieldsOf(c.Fields)
		if err != nil {
			return err
		}
		path := strings.TrimPrefix(strings.TrimPrefix(c.Path, "/"), "admin/v1/")
		if c.Method == http.MethodGet {
			query := url.Values{}
			for _, field := range c.Fields {
				name, value, _ := strings.Cut(field, "=")
				query.Add(name, value)
			}
			return o.send(c.Method, path, query, nil, p.stdout)
		}
		var body any = fields
		if c.Body != "" {
			text, err := p.readFile(c.Body)
			if err != nil {
				return err
			}
			body = json.RawMessage(text)
		}
		err = o.send(c.Method, path, nil, body, p.stdout)
		_, failed := io.WriteString(p.stdout, "\n")
		return errors.Join(err, failed)
	})
}

// fieldsOf reads NAME=VALUE.
func fieldsOf(texts []string) (map[string]any, error) {
	fields := map[string]any{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%q is not in the form NAME=VALUE", text)
		}
		fields[name] = value
		if json.Valid([]byte(value)) {
			fields[name] = json.RawMessage(value)
		}
	}
	return fields, nil
}
