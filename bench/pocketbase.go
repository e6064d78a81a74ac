//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
)

const (
	pocketBaseReady  = "/api/health"
	pocketBaseEmail  = "bench@shop.example"
	pocketBaseSecret = "bench-password"
	recordsPath      = "/api/collections/sessions/records"
)

// sessionCollection is a collection whose records hold what a session's request
// holds, for anybody to create: PocketBase as it comes asks for no more.
const sessionCollection = `{"name":"sessions","type":"base","createRule":"","fields":[
	{"name":"campaign_id","type":"text","required":true},
	{"name":"first_name","type":"text","required":true,"max":255},
	{"name":"last_name","type":"text","required":true,"max":255},
	{"name":"email","type":"email","required":true},
	{"name":"country","type":"text","required":true,"min":2,"max":2},
	{"name":"address","type":"text","max":500},
	{"name":"city","type":"text","max":255},
	{"name":"postal_code","type":"text","max":20},
	{"name":"phone","type":"text","max":50},
	{"name":"customer_ip","type":"text","max":45}]}`

// startPocketBase starts a server with its own defaults on a folder. The
// environment is empty, so that it finds no browser to open.
func (l *lab) startPocketBase(ctx context.Context, folder string) (*process, error) {
	program, err := l.pocketBaseProgram(ctx)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return startProcess(program, address, filepath.Join(folder, "pocketbase.log"), []string{},
		"serve", "--dir", filepath.Join(folder, "data"), "--http", address)
}

// openPocketBase starts a server that has the collection.
func (l *lab) openPocketBase(ctx context.Context) (*process, error) {
	program, err := l.pocketBaseProgram(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := l.subfolder("pocketbase")
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program, "superuser", "upsert", pocketBaseEmail, pocketBaseSecret,
		"--dir", filepath.Join(folder, "data"))
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("PocketBase: %w\n%s", err, output)
	}
	server, err := l.startPocketBase(ctx, folder)
	if err != nil {
		return nil, err
	}
	if _, err := server.awaitReady(ctx, pocketBaseReady); err != nil {
		return nil, err
	}
	if err := makeCollection(server.address); err != nil {
		server.stop()
		return nil, err
	}
	return server, nil
}

func makeCollection(address string) error {
	connection, err := dial(address)
	if err != nil {
		return err
	}
	defer connection.connection.Close()
	login := fmt.Appendf(nil, `{"identity":%q,"password":%q}`, pocketBaseEmail, pocketBaseSecret)
	answer, err := connection.post("/api/collections/_superusers/auth-with-password", "", "", login, http.StatusOK)
	if err != nil {
		return err
	}
	var session struct{ Token string }
	if err := json.Unmarshal(answer, &session); err != nil {
		return err
	}
	_, err = connection.post("/api/collections", session.Token, "", []byte(sessionCollection), http.StatusOK)
	return err
}

// createRecord is what the peer does where we create a session.
func (c *caller) createRecord() error {
	body := fmt.Appendf(nil, `{"campaign_id":%q,"first_name":"Erika","last_name":"Mustermann",`+
		`"email":"erika.%016x@shop.example","country":"DE","address":"Musterstr. 1","city":"Berlin",`+
		`"postal_code":"10115","phone":"+49301234567","customer_ip":"203.0.113.7"}`,
		recordID(kindCampaign, 1), c.random.Uint64())
	answer, err := c.client.post(recordsPath, "", "", body, http.StatusOK)
	if err == nil && !bytes.Contains(answer, []byte(`"id":"`)) {
		return fmt.Errorf("no record in %s", answer)
	}
	return err
}
