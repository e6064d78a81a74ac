package bankpage_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/bankpage"
	"sepad/internal/payment"
)

var at = time.Date(2026, time.March, 2, 9, 30, 0, 0, time.UTC)

type stoppedClock struct{}

func (stoppedClock) Now() time.Time { return at }

type bundle struct {
	t      *testing.T
	ledger *sandbox.MemoryLedger
	server *httptest.Server
}

func setup(t *testing.T) bundle {
	t.Helper()
	b := bundle{t: t, ledger: sandbox.NewMemoryLedger()}
	b.server = httptest.NewServer(bankpage.New(b.ledger, stoppedClock{}, slog.New(slog.DiscardHandler)))
	b.server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(b.server.Close)
	return b
}

// payment enters a payment that awaits the payer, changed as the test needs it.
func (b bundle) payment(change func(*sandbox.Entry)) sandbox.Entry {
	b.t.Helper()
	e := sandbox.Entry{
		Key:                   sandbox.Key{TenantID: uuid.New(), AccountID: uuid.New(), MerchantTransactionID: "TXN-20260302-ABCDEFGH"},
		VerificationReference: "VRF-ABCDEFGHIJKLMNOPQRSTUVWXYZ", Outcome: sandbox.VerificationPage, State: sandbox.StateAwaiting,
		AmountMinor: 1_234_56, Currency: "EUR", Type: payment.Sale, MandateReference: "MND-ABCDEFGHIJKL",
		MerchantName: "Müller & Söhne <Berlin>", ReturnURL: "https://shop.example/back?order=1", ReceivedAt: at, DecidedAt: at,
	}
	if change != nil {
		change(&e)
	}
	if _, inserted, err := b.ledger.Insert(context.Background(), e); err != nil || !inserted {
		b.t.Fatal("the payment could not be entered")
	}
	return e
}

func (b bundle) state(e sandbox.Entry) sandbox.State {
	b.t.Helper()
	stored, found, err := b.ledger.Find(context.Background(), e.Key)
	if err != nil || !found {
		b.t.Fatal("the payment is gone")
	}
	return stored.State
}

// answer is a response read to its end.
type answer struct {
	*http.Response
	body string
}

func (b bundle) do(request *http.Request) answer {
	b.t.Helper()
	response, err := b.server.Client().Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{response, string(body)}
}

func (b bundle) get(path string) answer {
	b.t.Helper()
	request, err := http.NewRequest(http.MethodGet, b.server.URL+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(request)
}

func (b bundle) post(e sandbox.Entry, decision string, header ...string) answer {
	b.t.Helper()
	form := url.Values{"decision": {decision}}.Encode()
	request, err := http.NewRequest(http.MethodPost, b.server.URL+pathOf(e), strings.NewReader(form))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return b.do(request)
}

func pathOf(e sandbox.Entry) string { return "/sandbox/bank/" + e.VerificationReference + "/" }

func (a answer) want(t *testing.T, status int, texts ...string) {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("status %d, want %d", a.StatusCode, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%q is not shown:\n%s", text, a.body)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	t.Run("the payer sees what is asked, and that no money moves", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.get(pathOf(b.payment(nil))).want(t, http.StatusOK, "Simulated bank: no money moves", "Müller &amp; Söhne &lt;Berlin&gt;",
			"€1,234.56", "MND-ABCDEFGHIJKL", `value="approve"`, `value="reject"`)
	})
	t.Run("a mandate alone collects nothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.get(pathOf(b.payment(func(e *sandbox.Entry) { e.AmountMinor, e.Type = 0, payment.Mandate }))).want(t, http.StatusOK, "€0.00")
	})
	t.Run("other currencies are named", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.get(pathOf(b.payment(func(e *sandbox.Entry) { e.AmountMinor, e.Currency = 99_999_999_99, "CHF" }))).want(t, http.StatusOK, "99,999,999.99 CHF")
	})
	for name, test := range map[string]struct {
		outcome sandbox.Outcome
		state   sandbox.State
		want    string
	}{
		"an approved payment says so":                   {sandbox.VerificationPage, sandbox.StateApproved, "Mandate approved"},
		"a rejected payment says so":                    {sandbox.VerificationPage, sandbox.StateDeclined, "Mandate rejected"},
		"a closed payment says so":                      {sandbox.VerificationPage, sandbox.StateClosed, "The time is over"},
		"an account that the verify call approves":      {sandbox.VerificationApproved, sandbox.StateAwaiting, "approves the mandate by itself"},
		"an account that the verify call rejects":       {sandbox.VerificationRejected, sandbox.StateAwaiting, "rejects the mandate by itself"},
		"a payment that was rejected by a verify call,": {sandbox.VerificationRejected, sandbox.StateDeclined, "Mandate rejected"},
	} {
		t.Run(name+" and has only a way back", func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			shown := b.get(pathOf(b.payment(func(e *sandbox.Entry) { e.Outcome, e.State = test.outcome, test.state })))
			shown.want(t, http.StatusOK, test.want, `href="https://shop.example/back?order=1"`)
			if strings.Contains(shown.body, "<button") {
				t.Error("there are buttons")
			}
		})
	}
}

func TestAddressesAndHeaders(t *testing.T) {
	t.Parallel()
	t.Run("an unknown address is a page of its own", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for _, path := range []string{"VRF-NONE/", "%00/", "%ff/", "a'b/", strings.Repeat("A", 2000) + "/", "assets/"} {
			b.get("/sandbox/bank/"+path).want(t, http.StatusNotFound, "No such request", "Simulated bank")
		}
	})
	t.Run("the page may load nothing but its own style", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		shown := b.get(pathOf(b.payment(nil)))
		policy := shown.Header.Get("Content-Security-Policy")
		for _, rule := range []string{"default-src 'none'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, rule) {
				t.Errorf("%s is missing in %s", rule, policy)
			}
		}
		if strings.Contains(shown.body, "<script") || strings.Contains(shown.body, "style=") || shown.Header.Get("Cache-Control") != "no-store" {
			t.Error("scripts, inline style or caching")
		}
		for name, kind := range map[string]string{"bank.css": "text/css", "icon.svg": "image/svg+xml"} {
			asset := b.get("/sandbox/bank/assets/" + name)
			if asset.StatusCode != http.StatusOK || !strings.HasPrefix(asset.Header.Get("Content-Type"), kind) || !strings.Contains(shown.body, name) {
				t.Errorf("%s: status %d, %s", name, asset.StatusCode, asset.Header.Get("Content-Type"))
			}
		}
		b.get("/sandbox/bank/assets/none.css").want(t, http.StatusNotFound)
		b.get("/sandbox/bank/assets/..%2fpage.html").want(t, http.StatusNotFound)
	})
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for decision, want := range map[string]sandbox.State{"approve": sandbox.StateApproved, "reject": sandbox.StateDeclined} {
		t.Run(decision+" decides and leads back to the shop, twice too", func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			e := b.payment(nil)
			for range 2 {
				answer := b.post(e, decision)
				if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != e.ReturnURL {
					t.Errorf("status %d to %q", answer.StatusCode, answer.Header.Get("Location"))
				}
			}
			if b.state(e) != want {
				t.Errorf("now %s", b.state(e))
			}
		})
	}
	t.Run("the way back may lead on to any web address", func(t *testing.T) {
		t.Parallel()
		for address, want := range map[string]string{
			"https://shop.example/": "form-action 'self' https:", "http://127.0.0.1:9000/": "form-action 'self' http: https:", "": "form-action 'self'",
		} {
			b := setup(t)
			policy := b.get(pathOf(b.payment(func(e *sandbox.Entry) { e.ReturnURL = address }))).Header.Get("Content-Security-Policy")
			if !strings.HasSuffix(policy, want) {
				t.Errorf("%q: %s", address, policy)
			}
		}
	})
	t.Run("without a way back the decision is shown", func(t *testing.T) {
		t.Parallel()
		for _, address := range []string{"", "javascript:alert(1)", "/relative", "::"} {
			b := setup(t)
			e := b.payment(func(e *sandbox.Entry) { e.ReturnURL = address })
			if answer := b.post(e, "approve"); answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != pathOf(e) {
				t.Errorf("%q: status %d to %q", address, answer.StatusCode, answer.Header.Get("Location"))
			}
			shown := b.get(pathOf(e))
			shown.want(t, http.StatusOK, "Mandate approved")
			if strings.Contains(shown.body, "<a ") {
				t.Errorf("%q: there is a link", address)
			}
		}
	})
}

func TestRefusedDecisions(t *testing.T) {
	t.Parallel()
	t.Run("a decision cannot be turned round", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		e := b.payment(nil)
		b.post(e, "reject")
		b.post(e, "approve").want(t, http.StatusConflict, "Mandate rejected")
		if b.state(e) != sandbox.StateDeclined {
			t.Errorf("now %s", b.state(e))
		}
	})
	t.Run("a closed payment cannot be approved", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		e := b.payment(func(e *sandbox.Entry) { e.State = sandbox.StateClosed })
		b.post(e, "approve").want(t, http.StatusConflict, "The time is over")
		if b.state(e) != sandbox.StateClosed {
			t.Errorf("now %s", b.state(e))
		}
	})
	t.Run("another site cannot decide", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		e := b.payment(nil)
		b.post(e, "approve", "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden, "did not come from this page")
		b.post(e, "approve", "Sec-Fetch-Site", "", "Origin", "https://evil.example").want(t, http.StatusForbidden)
		if b.state(e) != sandbox.StateAwaiting {
			t.Errorf("now %s", b.state(e))
		}
	})
	t.Run("anything but the two buttons decides nothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		e := b.payment(nil)
		for _, decision := range []string{"", "maybe", strings.Repeat("approve", 10_000)} {
			b.post(e, decision).want(t, http.StatusBadRequest, "Not understood")
		}
		missing := e
		missing.VerificationReference = "VRF-NONE"
		b.post(missing, "approve").want(t, http.StatusNotFound, "No such request")
		if b.state(e) != sandbox.StateAwaiting {
			t.Errorf("now %s", b.state(e))
		}
	})
}

// brokenLedger is a database that is away.
type brokenLedger struct{ *sandbox.MemoryLedger }

func (brokenLedger) FindByVerification(context.Context, string) (sandbox.Entry, bool, error) {
	return sandbox.Entry{}, false, errors.New("connection refused at 10.0.0.7")
}

func TestLedgerAway(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	recorder := httptest.NewRecorder()
	handler := bankpage.New(brokenLedger{}, stoppedClock{}, slog.New(slog.NewTextHandler(&log, nil)))
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/sandbox/bank/VRF-1/", nil))
	if recorder.Code != http.StatusInternalServerError || strings.Contains(recorder.Body.String(), "10.0.0.7") {
		t.Errorf("status %d: %s", recorder.Code, recorder.Body)
	}
	if !strings.Contains(log.String(), "10.0.0.7") {
		t.Errorf("the cause is not logged: %s", log.String())
	}
}
