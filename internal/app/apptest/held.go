package apptest

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// DoHeld makes a call whose body is held back until the server has let the call in and wants the body. What happens
// meanwhile is the test's.
func (s *Server) DoHeld(t testing.TB, r Request, meanwhile func()) Answer {
	t.Helper()
	request, err := s.request(t, r)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Expect", "100-continue")
	request.Body, request.GetBody = &heldBack{ReadCloser: request.Body, meanwhile: meanwhile}, nil
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{Status: response.StatusCode, Header: response.Header, Raw: raw}
}

// heldBack is a body that something comes before.
type heldBack struct {
	io.ReadCloser
	meanwhile func()
}

func (h *heldBack) Read(into []byte) (int, error) {
	if h.meanwhile != nil {
		h.meanwhile()
		h.meanwhile = nil
	}
	return h.ReadCloser.Read(into)
}

// TakeReads takes as many turns to read as a name has, and gives what leaves each of them.
func (s *Server) TakeReads(t testing.TB, name string) (leaves []func()) {
	t.Helper()
	const atOnce = 4
	for range atOnce {
		leave, _, err := s.App.People.Reads.Take(t.Context(), name, atOnce)
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	return leaves
}
