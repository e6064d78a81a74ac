package admin_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/payment"
	"sepad/internal/webhook"
)

const (
	deliveries = "/admin/v1/webhook-deliveries/"
	hookSecret = "whsec_of_the_receiver"
)

// hookServer is a shop whose events go to a receiver of the test's.
type hookServer struct {
	*apptest.Server
	mu     sync.Mutex
	status int
	got    chan hookCall
}

type hookCall struct {
	header http.Header
	body   []byte
}

func openHooks(t *testing.T) *hookServer {
	t.Helper()
	h := &hookServer{status: http.StatusOK, got: make(chan hookCall, 1000)}
	receiver := httptest.NewServer(h)
	t.Cleanup(receiver.Close)
	h.Server = apptest.SQLite(t, apptest.Options{Change: func(s *config.Settings) {
		s.WebhookAllowPrivate, s.WebhookSchedule = "true", "1h"
	}})
	h.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Nordlicht
    webhook_profiles:
      - {id: %s, name: Backend, url: "%s/hooks", signing_secret: %s, default: true}
      - {id: %s, name: Completed only, url: "%s/done", signing_secret: %s, events: [payment_session.completed]}
`, apptest.Shop, apptest.Profile, receiver.URL, hookSecret, apptest.QuietProfile, receiver.URL, hookSecret))
	return h
}

func (h *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	status := h.status
	h.mu.Unlock()
	w.WriteHeader(status)
	fmt.Fprint(w, "hello")
	r.Header.Set("Path", r.URL.Path)
	h.got <- hookCall{r.Header, body}
}

func (h *hookServer) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

// next waits for a call.
func (h *hookServer) next(t *testing.T) hookCall {
	t.Helper()
	select {
	case c := <-h.got:
		return c
	case <-time.After(20 * time.Second):
		t.Fatal("no event came")
		return hookCall{}
	}
}

func (h *hookServer) admin(t *testing.T, method, path string, body any) apptest.Answer {
	t.Helper()
	return h.Do(t, apptest.Request{Method: method, Path: path, Key: apptest.AdminToken, Body: body, Undocumented: true})
}

// results reads a list.
func (h *hookServer) results(t *testing.T, query string) []map[string]any {
	t.Helper()
	answer := h.admin(t, http.MethodGet, deliveries+query, nil).Want(t, http.StatusOK, nil)
	var found []map[string]any
	for _, one := range answer.Get(t, "results").([]any) {
		found = append(found, one.(map[string]any))
	}
	return found
}

// await reads a delivery until it has a status: results are written a moment
// after the answer came.
func (h *hookServer) await(t *testing.T, id, status string) apptest.Answer {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		answer := h.admin(t, http.MethodGet, deliveries+id+"/", nil).Want(t, http.StatusOK, nil)
		if answer.Text(t, "status") == status {
			return answer
		}
		select {
		case <-deadline:
			t.Fatalf("the delivery is still %s", answer.Raw)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (h *hookServer) pay(t *testing.T, campaign string) string {
	t.Helper()
	token := h.Create(t, apptest.InCampaign(campaign))
	h.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
	return token
}

func TestEventsAreDeliveredAndLogged(t *testing.T) {
	t.Parallel()
	h := openHooks(t)
	token := h.pay(t, apptest.ServerCampaign)
	kinds := map[string]string{}
	for range 2 {
		call := h.next(t)
		if call.header.Get("X-Service-Signature") != webhook.Sign(hookSecret, call.body) {
			t.Error("a signature does not fit")
		}
		kinds[call.header.Get("X-Service-Event")] = call.header.Get("X-Service-Event-Id")
	}
	id := kinds["payment_session.completed"]
	delivered := h.await(t, id, "delivered").Want(t, http.StatusOK, apptest.Fields{
		"id": id, "event_id": id, "event": "payment_session.completed", "tenant_id": apptest.Shop,
		"webhook_profile_id": apptest.Profile, "url": apptest.Any, "next_attempt_at": nil, "created_at": apptest.Any,
	})
	attempt := delivered.Get(t, "attempts").([]any)[0].(map[string]any)
	if attempt["status"] != 200.0 || attempt["answer"] != "hello" || attempt["error"] != nil || attempt["number"] != 1.0 {
		t.Errorf("the attempt is %v", attempt)
	}
	if strings.Contains(string(delivered.Raw), hookSecret) || strings.Contains(string(delivered.Raw), token) {
		t.Error("the log gives away too much")
	}
	h.await(t, kinds["transaction.created"], "delivered")
	for query, want := range map[string]int{
		"": 2, "?tenant_id=" + apptest.Shop: 2, "?tenant_id=" + apptest.Rival: 0, "?status=delivered": 2, "?status=failed": 0,
		"?event=transaction.created": 1, "?webhook_profile_id=" + apptest.Profile: 2, "?webhook_profile_id=" + apptest.QuietProfile: 0,
		"?webhook_profile_id=" + payment.NewID().String(): 0, "?from=2020-01-01&to=2020-12-31": 0, "?from=2020-01-01": 2,
		"?to=" + url.QueryEscape(delivered.Text(t, "created_at")): 2,
	} {
		if got := h.results(t, query); len(got) != want {
			t.Errorf("%s finds %d deliveries, want %d", query, len(got), want)
		}
	}
}

func TestRouting(t *testing.T) {
	t.Parallel()
	h := openHooks(t)
	h.pay(t, apptest.QuietCampaign)
	if call := h.next(t); call.header.Get("Path") != "/done" || call.header.Get("X-Service-Event") != "payment_session.completed" {
		t.Errorf("the campaign's profile got %v", call.header)
	}
	body := apptest.InCampaign(apptest.ServerCampaign)
	body["webhook_profile_id"] = apptest.QuietProfile
	token := h.Create(t, body)
	h.Pay(t, token, apptest.Approved)
	if call := h.next(t); call.header.Get("Path") != "/done" {
		t.Errorf("the session's profile got %v", call.header)
	}
	if got := h.results(t, ""); len(got) != 2 {
		t.Errorf("%d events were routed, want the two that their profile takes", len(got))
	}
	before := h.Env.Count(t, "events")
	h.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Nordlicht
    webhook_profiles:
      - {id: %s, name: Late, url: "http://127.0.0.1:9/late", signing_secret: whsec_late}
`, apptest.Shop, payment.NewID()))
	if got := h.results(t, ""); len(got) != 2 || h.Env.Count(t, "events") != before {
		t.Errorf("a profile that came later got something old: %v", got)
	}
}

func TestResendByHand(t *testing.T) {
	t.Parallel()
	h := openHooks(t)
	h.answer(http.StatusGone)
	h.pay(t, apptest.ServerCampaign)
	first, second := h.next(t), h.next(t)
	ids := []string{first.header.Get("X-Service-Event-Id"), second.header.Get("X-Service-Event-Id")}
	for _, id := range ids {
		h.await(t, id, "failed")
	}
	h.answer(http.StatusOK)
	h.admin(t, http.MethodPost, deliveries+ids[0]+"/resend/", nil).Want(t, http.StatusOK, apptest.Fields{"id": ids[0], "status": "pending"})
	if again := h.next(t); again.header.Get("X-Service-Event-Id") != ids[0] || again.header.Get("X-Service-Delivery-Attempt") != "2" {
		t.Errorf("it is sent as %v", again.header)
	}
	h.await(t, ids[0], "delivered")

	past := map[string]any{"webhook_profile_id": apptest.Profile, "from": "2020-01-01", "to": "2020-12-31T12:00:00Z"}
	h.admin(t, http.MethodPost, deliveries+"resend/", past).Want(t, http.StatusOK, apptest.Fields{"resent": 0})
	behind := map[string]any{"webhook_profile_id": apptest.Profile, "after": ids[1]}
	h.admin(t, http.MethodPost, deliveries+"resend/", behind).Want(t, http.StatusOK, apptest.Fields{"resent": 0, "left": 0, "after": nil})
	all := map[string]any{"webhook_profile_id": apptest.Profile, "from": "2020-01-01", "to": nil, "after": nil}
	h.admin(t, http.MethodPost, deliveries+"resend/", all).Want(t, http.StatusOK, apptest.Fields{"resent": 1})
	if again := h.next(t); again.header.Get("X-Service-Event-Id") != ids[1] {
		t.Errorf("it is sent as %v", again.header)
	}
	h.await(t, ids[1], "delivered")

	h.admin(t, http.MethodPost, deliveries+"resend/", map[string]any{"webhook_profile_id": apptest.ClosedProfile}).Want(t, http.StatusConflict, nil)
	h.admin(t, http.MethodPost, deliveries+"resend/", map[string]any{"webhook_profile_id": apptest.Gateway}).WantBad(t, map[string]string{"webhook_profile_id": ""})
	h.admin(t, http.MethodPost, deliveries+"resend/", map[string]any{"from": "yesterday", "to": 5}).WantBad(t, map[string]string{"webhook_profile_id": "", "from": "", "to": ""})
	for _, id := range []string{payment.NewID().String(), "x"} {
		h.admin(t, http.MethodGet, deliveries+id+"/", nil).WantDetail(t, http.StatusNotFound, "Delivery not found")
		h.admin(t, http.MethodPost, deliveries+id+"/resend/", nil).WantDetail(t, http.StatusNotFound, "Delivery not found")
	}
}

func TestRotatingASecret(t *testing.T) {
	t.Parallel()
	h := openHooks(t)
	profile := "/admin/v1/tenants/" + apptest.Shop + "/webhook-profiles/" + apptest.Profile + "/"
	answer := h.admin(t, http.MethodPost, profile+"rotate-secret/", nil).Want(t, http.StatusOK, apptest.Fields{"id": apptest.Profile})
	rotated := answer.Text(t, "signing_secret")
	h.pay(t, apptest.ServerCampaign)
	call := h.next(t)
	if call.header.Get("X-Service-Signature") != webhook.Sign(rotated, call.body) || call.header.Get("X-Service-Signature-Previous") != webhook.Sign(hookSecret, call.body) {
		t.Errorf("the signatures are %v", call.header)
	}
	h.next(t)

	const chosen = "a secret of the merchant's own"
	patched := h.admin(t, http.MethodPatch, profile, map[string]any{"signing_secret": chosen}).Want(t, http.StatusOK, apptest.Fields{"id": apptest.Profile, "name": "Backend"})
	if strings.Contains(string(patched.Raw), chosen) {
		t.Error("a secret is read back")
	}
	h.pay(t, apptest.ServerCampaign)
	call = h.next(t)
	if call.header.Get("X-Service-Signature") != webhook.Sign(chosen, call.body) || call.header.Get("X-Service-Signature-Previous") != webhook.Sign(rotated, call.body) {
		t.Errorf("the signatures are %v", call.header)
	}
	if strings.Contains(h.Log(), chosen) || strings.Contains(h.Log(), rotated) {
		t.Error("a secret is logged")
	}
	h.admin(t, http.MethodPatch, profile, map[string]any{"signing_secret": " "}).WantBad(t, map[string]string{"signing_secret": ""})
	for _, path := range []string{
		"/admin/v1/tenants/" + apptest.Rival + "/webhook-profiles/" + apptest.Profile,
		"/admin/v1/tenants/" + apptest.Shop + "/webhook-profiles/" + payment.NewID().String(),
	} {
		h.admin(t, http.MethodPost, path+"/rotate-secret/", nil).WantDetail(t, http.StatusNotFound, "Webhook profile not found")
	}
	for _, tenant := range []string{"x", payment.NewID().String()} {
		path := "/admin/v1/tenants/" + tenant + "/webhook-profiles/" + apptest.Profile
		h.admin(t, http.MethodPost, path+"/rotate-secret/", nil).WantDetail(t, http.StatusNotFound, "Tenant not found")
	}
}

func TestPagesOfDeliveries(t *testing.T) {
	t.Parallel()
	h := openHooks(t)
	for range 4 {
		h.pay(t, apptest.ServerCampaign)
	}
	var want []string
	for _, one := range h.results(t, "") {
		want = append(want, one["id"].(string))
	}
	walk := func(path, link string) (got []string, last string) {
		t.Helper()
		for path != "" {
			answer := h.admin(t, http.MethodGet, path, nil).Want(t, http.StatusOK, nil)
			var page []string
			for _, one := range answer.Get(t, "results").([]any) {
				page = append(page, one.(map[string]any)["id"].(string))
			}
			if link == "next" {
				got = append(got, page...)
			} else {
				got = append(page, got...)
			}
			last = path
			next, _ := answer.Get(t, link).(string)
			path = strings.TrimPrefix(next, h.URL)
		}
		return got, last
	}
	got, last := walk(deliveries+"?page_size=3&tenant_id="+apptest.Shop, "next")
	if len(want) != 8 || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("forward the pages are %v, want %v", got, want)
	}
	if got, _ = walk(last, "previous"); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("backward the pages are %v", got)
	}
	if got, _ = walk(deliveries+"?page_size=3", "next"); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("over all tenants the pages are %v", got)
	}
	cursor := strings.SplitAfter(last, "cursor=")[1]
	for query, field := range map[string]string{
		"?page_size=0": "page_size", "?page_size=1001": "page_size", "?cursor=x": "cursor", "?status=lost": "status", "?event=x": "event",
		"?tenant_id=x": "tenant_id", "?webhook_profile_id=1": "webhook_profile_id", "?from=x": "from", "?to=2026-13-01": "to",
		"?status=failed&cursor=" + cursor: "cursor",
	} {
		h.admin(t, http.MethodGet, deliveries+query, nil).WantBad(t, map[string]string{field: ""})
	}
	h.Do(t, apptest.Request{Path: deliveries, Key: h.Key, Undocumented: true}).WantDetail(t, http.StatusUnauthorized, "Invalid admin token")
}
