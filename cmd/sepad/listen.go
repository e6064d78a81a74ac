package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

type listenCommand struct {
	Forward string `name:"forward" required:"" placeholder:"URL" help:"Where to send the events, such as http://localhost:3000/hooks."`
	Last    int    `name:"last" default:"0" help:"How many earlier events to send first (default: none)."`
	tailFlags
	tenantFlag
	dataFlags
}

func (listenCommand) Help() string {
	return "Sends a sandbox tenant's events to an address on this machine as they happen, signed as the service signs them, and prints how each was answered. " +
		"They are sent once here, and to the tenant's own webhook address as ever."
}

func (c *listenCommand) Run(p *program) error {
	if to, err := url.Parse(c.Forward); err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return fmt.Errorf("--forward %q is no address that begins with http:// or https://", c.Forward)
	}
	return c.use(p, func(st *store.Store, access config.Access) error {
		if err := onlySandbox(access); err != nil {
			return err
		}
		tenant, err := setup.FindTenant(p.ctx, st, c.Tenant)
		if err != nil {
			return err
		}
		secret, err := signingSecret(p, st, tenant.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "Events of %s go to %s\nSigning secret: %s\n", tenant.Name, c.Forward, secret)
		client := &http.Client{Timeout: webhook.DefaultTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		return tail(p, st, tenant.ID, max(0, c.Last), c.Once, func(e store.FeedEvent) error {
			answer := forward(p, client, c.Forward, secret, e)
			_, err := fmt.Fprintf(p.stdout, "%s  %-28s %s  → %s\n", clock.Real{}.Now().Format(time.TimeOnly), e.Kind, e.ID, answer)
			return err
		})
	})
}

// forward sends an event on and says how it was answered.
func forward(p *program, client *http.Client, to, secret string, e store.FeedEvent) string {
	request, err := http.NewRequestWithContext(p.ctx, http.MethodPost, to, strings.NewReader(e.Payload))
	if err != nil {
		return err.Error()
	}
	body, stamp := []byte(e.Payload), strconv.FormatInt(clock.Real{}.Now().Unix(), 10)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Service-Event": string(e.Kind), "X-Service-Event-Id": e.ID.String(), "X-Service-Delivery-Attempt": "1",
		"X-Service-Signature": webhook.Sign(secret, body), "Webhook-Id": e.ID.String(), "Webhook-Timestamp": stamp,
		"Webhook-Signature": webhook.SignStandard(secret, e.ID.String(), stamp, body),
	} {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return "nobody answers: " + strings.TrimPrefix(err.Error(), "Post \""+to+"\": ")
	}
	defer response.Body.Close()
	const most = 200
	said, _ := io.ReadAll(io.LimitReader(response.Body, most))
	if response.StatusCode/100 == 2 {
		return response.Status
	}
	return strings.TrimSpace(response.Status + " " + string(said))
}
