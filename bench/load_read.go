//go:build unix

package main

import (
	"fmt"
	"net/http"
	"strconv"
)

// readOnce asks for the paths of the job in turn, each with the key of the same place, as another client each time; a job that has bodies posts them.
func (c *caller) readOnce() error {
	request := c.nextRead()
	c.sequence++
	status, answer, err := c.client.ask(request)
	if err != nil {
		c.client.isBroken = true
		return err
	}
	if status != http.StatusOK || len(answer) == 0 {
		return fmt.Errorf("answered %d: %s", status, answer)
	}
	return nil
}

func (c *caller) nextRead() []byte {
	method := "GET "
	if len(c.job.Bodies) > 0 {
		method = "POST "
	}
	request := append(append(c.client.buffer[:0], method...), inTurn(c, c.job.Paths)...)
	request = append(append(request, " HTTP/1.1\r\nHost: "...), c.client.host...)
	request = append(append(request, "\r\nX-Forwarded-For: "...), c.clientIP()...)
	if keys := c.job.Merchants; len(keys) > 0 {
		request = append(append(request, "\r\nAuthorization: Bearer "...), inTurn(c, keys).Key...)
	}
	if len(c.job.Bodies) > 0 {
		body := inTurn(c, c.job.Bodies)
		request = append(request, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		request = append(strconv.AppendInt(request, int64(len(body)), 10), "\r\n\r\n"...)
		request = append(request, body...)
	} else {
		request = append(request, "\r\n\r\n"...)
	}
	c.client.buffer = request
	return request
}
