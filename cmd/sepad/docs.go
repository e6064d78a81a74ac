package main

import (
	"fmt"

	document "sepad"
	"sepad/internal/docsite"
)

type docsCommand struct {
	Build docsBuildCommand `cmd:"" help:"Write the documentation as static files."`
}

type docsBuildCommand struct {
	Folder string `arg:"" type:"path" help:"Where the files go; it is made where it is not there."`
	URL    string `name:"url" placeholder:"URL" default:"http://127.0.0.1:8080" help:"Where merchants reach the service; it stands in the calls that readers copy (default: ${default})."`
}

func (docsBuildCommand) Help() string {
	return "The service has the same pages at /docs/. The files work on any host of static files, and from a folder; search included."
}

func (c *docsBuildCommand) Run(p *program) error {
	site, err := docsite.Build(docsite.Sources{OpenAPI: document.OpenAPI, AdminAPI: document.AdminAPI, Files: document.Documents, PublicURL: c.URL})
	if err != nil {
		return err
	}
	if err := site.Write(c.Folder); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%d files in %s; begin with index.html.\n", len(site), c.Folder)
	return err
}
