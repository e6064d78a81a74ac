//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// get asks for a path, with a header that says who asks, and hands the body of the
// answer, which must be a 200, to a writer.
func (c *client) get(path, credential string, into io.Writer) error {
	request := append(c.buffer[:0], "GET "...)
	request = append(append(request, path...), " HTTP/1.1\r\nHost: "...)
	request = append(request, c.host...)
	if credential != "" {
		request = append(append(request, "\r\n"...), credential...)
	}
	request = append(request, "\r\n\r\n"...)
	c.buffer = request
	err := c.receive(request, into)
	c.isBroken = err != nil
	return err
}

func (c *client) receive(request []byte, into io.Writer) error {
	if err := c.connection.SetDeadline(time.Now().Add(answerPatience)); err != nil {
		return err
	}
	if _, err := c.connection.Write(request); err != nil {
		return err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", response.Status)
	}
	_, err = io.Copy(into, response.Body)
	return err
}

// widenReader makes the connection of a caller fit for large answers.
func (c *caller) widenReader() error {
	const wide = 64 << 10
	c.client.reader = bufio.NewReaderSize(c.client.connection, wide)
	return nil
}

// readPage asks for the pages of the job in turn, each caller beginning elsewhere, each
// time with another key or with the one cookie.
func (c *caller) readPage() error {
	credential := ""
	switch keys := c.job.Merchants; {
	case c.job.Cookie != "":
		credential = "Cookie: " + c.job.Cookie
	case len(keys) > 0:
		credential = bearer(inTurn(c, keys))
	}
	path := inTurn(c, c.job.Paths)
	c.sequence++
	return c.client.get(path, credential, io.Discard)
}

// inTurn chooses one of many, each caller beginning elsewhere.
func inTurn[T any](c *caller, all []T) T {
	return all[(c.number*len(all)/c.job.Connections+c.sequence)%len(all)]
}

func bearer(m merchant) string { return "Authorization: Bearer " + m.Key }

// pageInTheMiddle finds the page that begins a thousand records before the end
// of a day, by its cursor as a client would.
func pageInTheMiddle(address string, key merchant, first, last time.Time, format string) (string, error) {
	connection, err := dial(address)
	if err != nil {
		return "", err
	}
	defer connection.connection.Close()
	var page bytes.Buffer
	path := fmt.Sprintf("/api/v1/reconciliation/transactions/?start_date=%s&end_date=%s&page_size=1000",
		first.Format(time.DateOnly), last.Format(time.DateOnly))
	if err := connection.get(path, bearer(key), &page); err != nil {
		return "", err
	}
	var body struct{ Next string }
	if err := json.Unmarshal(page.Bytes(), &body); err != nil {
		return "", err
	}
	next, err := url.Parse(body.Next)
	if err != nil || body.Next == "" {
		return "", fmt.Errorf("there is no page after the first: %q", body.Next)
	}
	return strings.TrimSuffix(next.RequestURI(), "&") + "&format=" + format, nil
}
