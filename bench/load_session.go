//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
)

const sessionsPath = "/api/v1/payment-sessions/"

// approvedIBAN has no special outcome at the sandbox gateway.
const approvedIBAN = "DE02120300000000202051"

// createSession asks for a session for somebody new and gives its token. Keys
// are taken in turn, each caller beginning elsewhere.
func (c *caller) createSession() (string, error) {
	m := c.job.Merchants[(c.number*len(c.job.Merchants)/connections+c.sequence)%len(c.job.Merchants)]
	c.sequence++
	body := fmt.Appendf(nil, `{"campaign_id":%q,"lead":{"first_name":"Erika","last_name":"Mustermann",`+
		`"email":"erika.%016x@shop.example","country":"DE","address":"Musterstr. 1","city":"Berlin",`+
		`"postal_code":"10115","phone":"+49301234567"},"customer_ip":"203.0.113.7"}`, m.CampaignID, c.random.Uint64())
	answer, err := c.client.post(sessionsPath, m.Key, c.clientIP(), body, http.StatusCreated)
	if err != nil {
		return "", err
	}
	return tokenIn(answer)
}

// tokenIn finds the session token without decoding the whole answer.
func tokenIn(answer []byte) (string, error) {
	_, rest, found := bytes.Cut(answer, []byte(`"session_token":"`))
	token, _, ended := bytes.Cut(rest, []byte(`"`))
	if !found || !ended {
		return "", fmt.Errorf("no session token in %s", answer)
	}
	return string(token), nil
}

// createSessions makes as many sessions as this caller is going to pay.
func (c *caller) createSessions() error {
	for range c.job.share() {
		token, err := c.createSession()
		if err != nil {
			return err
		}
		c.tokens = append(c.tokens, token)
	}
	return nil
}

var errNotCompleted = errors.New("the payment was not completed")

// payNext pays a session as its customer's browser does.
func (c *caller) payNext() error {
	token := c.tokens[len(c.tokens)-1]
	c.tokens = c.tokens[:len(c.tokens)-1]
	body := []byte(`{"iban":"` + approvedIBAN + `","iban_holder_name":"Erika Mustermann"}`)
	answer, err := c.client.post(sessionsPath+token+"/pay/", "", c.clientIP(), body, http.StatusOK)
	if err != nil {
		return err
	}
	if !bytes.Contains(answer, []byte(`"status":"completed"`)) {
		return errNotCompleted
	}
	return nil
}

// clientIP is another one each time, below 10.0.0.0/8: one payment per second and
// address is all that the limits let through.
func (c *caller) clientIP() string {
	n := c.job.addresses.Add(1)
	return fmt.Sprintf("10.%d.%d.%d", byte(n>>16), byte(n>>8), byte(n))
}
