package main

import "net/http"

type tenantsCommand struct {
	List   tenantsListCommand   `cmd:"" help:"List tenants."`
	Show   tenantsShowCommand   `cmd:"" help:"Show one with its own settings."`
	Add    tenantsAddCommand    `cmd:"" help:"Add one of its own settings."`
	Change tenantsChangeCommand `cmd:"" help:"Change settings of one."`
}

type tenantsListCommand struct {
	outputFlag
	dataFlags
}

func (c *tenantsListCommand) Run(p *program) error {
	return c.office(p, func(o *office) error {
		return o.print("tenants/", nil, 0, c.JSON, "id name creditor.name creditor.identifier")
	})
}

// oneTenantFlags name a tenant.
type oneTenantFlags struct {
	tenantFlag
	outputFlag
	dataFlags
}

// with opens the data and finds the tenant's place in the API.
func (f oneTenantFlags) with(p *program, work func(o *office, path string) error) error {
	return f.office(p, func(o *office) error {
		id, err := o.tenantID(p.ctx, f.Tenant)
		if err != nil {
			return err
		}
		return work(o, "tenants/"+id+"/")
	})
}

type tenantsShowCommand struct{ oneTenantFlags }

func (c *tenantsShowCommand) Run(p *program) error {
	return c.with(p, func(o *office, path string) error { return o.show(path, c.JSON) })
}

type tenantsAddCommand struct {
	Fields []string `arg:"" name:"field" placeholder:"NAME=VALUE" help:"Fields as in the resource file, name among them; a value that is JSON is taken as such."`
	outputFlag
	dataFlags
}

func (c *tenantsAddCommand) Run(p *program) error {
	return c.office(p, func(o *office) error { return o.put(http.MethodPost, "tenants/", c.Fields, c.JSON) })
}

type tenantsChangeCommand struct {
	Fields []string `arg:"" name:"field" placeholder:"NAME=VALUE" help:"Fields as in the resource file; a value that is JSON is taken as such."`
	oneTenantFlags
}

func (c *tenantsChangeCommand) Run(p *program) error {
	return c.with(p, func(o *office, path string) error { return o.put(http.MethodPatch, path, c.Fields, c.JSON) })
}
