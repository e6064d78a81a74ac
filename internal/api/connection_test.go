package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
)

// dial opens a bare connection to a server.
func dial(t *testing.T, s *apptest.Server) *net.TCPConn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return connection.(*net.TCPConn)
}

func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Create(t, apptest.Direct())
		before := s.Footprint(t)
		head := func(path string, length int) string {
			return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, s.Key, length)
		}
		t.Run("a body that ends early is a 400", func(t *testing.T) {
			for _, path := range []string{apptest.Sessions, apptest.Path(token, "pay"), apptest.Path(token, "verify"), ibanPath} {
				connection := dial(t, s)
				io.WriteString(connection, head(path, 500)+`{"iban":"`)
				connection.CloseWrite()
				response, err := http.ReadResponse(bufio.NewReader(connection), nil)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					continue
				}
				response.Body.Close()
				if response.StatusCode != http.StatusBadRequest {
					t.Errorf("%s answers %s", path, response.Status)
				}
			}
		})
		t.Run("clients that hang or vanish do not keep others from being served", func(t *testing.T) {
			for i := range 40 {
				connection := dial(t, s)
				io.WriteString(connection, head(apptest.Path(token, "pay"), 500)[:40+3*i])
				if i%2 == 0 {
					connection.SetLinger(0)
					connection.Close()
				}
			}
			s.WantStatus(t, token, "PENDING")
		})
		t.Run("no HTTP, a huge header and a wrong length are answered by the server, not by a crash", func(t *testing.T) {
			for _, text := range []string{
				"\x16\x03\x01\x02\x00", "GET / HTTP/9.9\r\n\r\n", "POST " + apptest.Sessions + " HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
				"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
			} {
				connection := dial(t, s)
				io.WriteString(connection, text)
				connection.CloseWrite()
				io.Copy(io.Discard, connection)
			}
			s.WantStatus(t, token, "PENDING")
		})
		if after := s.Footprint(t); after != before {
			t.Errorf("something was left behind: %s became %s", before, after)
		}
	})
}

func TestABodyWithoutALength(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	send := func(t *testing.T, text string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+ibanPath, io.MultiReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+s.Key)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	t.Run("is read", func(t *testing.T) {
		if status := send(t, `{"iban":"`+apptest.Approved+`"}`); status != http.StatusOK {
			t.Errorf("the status is %d", status)
		}
	})
	t.Run("is a 413 above 64 KiB", func(t *testing.T) {
		if status := send(t, `{"iban":"`+strings.Repeat("x", 70<<10)+`"}`); status != http.StatusRequestEntityTooLarge {
			t.Errorf("the status is %d", status)
		}
	})
}

// TestNothingIsReadBehindChunks: a proxy that goes by the length of a head that speaks of chunks too would take what lies behind
// the chunks for a part of the first request, and the answer to it for that to somebody else's.
func TestNothingIsReadBehindChunks(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	body := `{"iban":"` + apptest.Approved + `"}`
	behind := "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		framing, body string
		answers       int
	}{
		"a length":            {fmt.Sprintf("Content-Length: %d\r\n", len(body)), body, 2},
		"chunks":              {"Transfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body), 1},
		"a length and chunks": {"Content-Length: 500\r\nTransfer-Encoding: chunked\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body), 1},
	} {
		connection := dial(t, s)
		io.WriteString(connection, "POST "+ibanPath+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+string(s.Key)+"\r\nContent-Type: application/json\r\n"+
			c.framing+"\r\n"+c.body+behind)
		connection.CloseWrite()
		answers, err := io.ReadAll(connection)
		if got := strings.Count(string(answers), "HTTP/1.1 200 OK"); got != c.answers || err != nil {
			t.Errorf("%s: %d answers, want %d: %v", name, got, c.answers, err)
		}
	}
}

func TestAPayerWhoGoesAway(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		token := s.Create(t, onScript())
		under, finish := g.hold()
		ctx, leave := context.WithCancel(t.Context())
		text := `{"iban":"` + apptest.Approved + `","iban_holder_name":"` + apptest.HolderName + `"}`
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+apptest.Path(token, "pay"), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		left := make(chan struct{})
		go func() {
			defer close(left)
			if response, err := http.DefaultClient.Do(request); err == nil {
				response.Body.Close()
				t.Error("the payer was answered")
			}
		}()
		<-under
		leave()
		<-left
		finish()
		apptest.Eventually(t, "the payment is settled all the same", func() bool { return s.Retrieve(t, token).Text(t, "status") == "COMPLETED" })
		s.WantEvents(t, token, apptest.Completed...)
	})
}
