//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// answerPatience is how long a request may take before it counts as lost.
const answerPatience = 30 * time.Second

// client is one connection that is kept open. It writes requests by hand: the
// load shares the machine with what is measured, and net/http's client would
// take as much of it as the server.
type client struct {
	connection net.Conn
	reader     *bufio.Reader
	host       string
	buffer     []byte
	answer     []byte
	isBroken   bool
}

func dial(address string) (*client, error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{connection: connection, reader: bufio.NewReader(connection), host: address}, nil
}

// post sends JSON and gives the body of the answer, which must have the wanted
// status. A client address is named as a proxy would.
func (c *client) post(path, bearer, clientIP string, body []byte, want int) ([]byte, error) {
	request := append(c.buffer[:0], "POST "...)
	request = append(append(request, path...), " HTTP/1.1\r\nHost: "...)
	request = append(append(request, c.host...), "\r\nContent-Type: application/json\r\nContent-Length: "...)
	request = strconv.AppendInt(request, int64(len(body)), 10)
	if bearer != "" {
		request = append(append(request, "\r\nAuthorization: Bearer "...), bearer...)
	}
	if clientIP != "" {
		request = append(append(request, "\r\nX-Forwarded-For: "...), clientIP...)
	}
	request = append(append(request, "\r\n\r\n"...), body...)
	c.buffer = request
	status, answer, err := c.exchange(request)
	if err != nil {
		c.isBroken = true
		return nil, err
	}
	if status != want {
		return nil, fmt.Errorf("answered %d instead of %d: %s", status, want, answer)
	}
	return answer, nil
}

func (c *client) exchange(request []byte) (status int, answer []byte, err error) {
	if err := c.connection.SetDeadline(time.Now().Add(answerPatience)); err != nil {
		return 0, nil, err
	}
	if _, err := c.connection.Write(request); err != nil {
		return 0, nil, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// ask is exchange without the cost of net/http, for answers that say how long they are.
func (c *client) ask(request []byte) (status int, answer []byte, err error) {
	if _, err := c.connection.Write(request); err != nil {
		return 0, nil, err
	}
	first, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	const statusAt, statusEnd = len("HTTP/1.1 "), len("HTTP/1.1 200")
	if len(first) < statusEnd {
		return 0, nil, fmt.Errorf("answered %q", first)
	}
	if status, err = strconv.Atoi(string(first[statusAt:statusEnd])); err != nil {
		return 0, nil, err
	}
	length := 0
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		if len(line) <= len("\r\n") {
			break
		}
		if value, is := bytes.CutPrefix(line, []byte("Content-Length: ")); is {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, nil, err
			}
		}
	}
	c.answer = slices.Grow(c.answer[:0], length)[:length]
	_, err = io.ReadFull(c.reader, c.answer)
	return status, c.answer, err
}
