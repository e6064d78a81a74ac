package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sepad/internal/app/apptest"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// enter opens a browser that is signed in with a role.
func enter(t *testing.T, s *apptest.Server, role store.Role) *tab {
	t.Helper()
	p := openTab(t, s)
	link, err := s.App.People.DeveloperLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(link.URL))
	p.awaitHead("Overview")
	who, err := s.App.Store.OperatorByEmail(t.Context(), people.DeveloperEmail)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.App.People.Change(t.Context(), who.ID, func(o *store.Operator) { o.Role = role }); err != nil {
		t.Fatal(err)
	}
	return p
}

// press is a key somewhere on the page.
func (p *tab) press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// A customer calls: the last four digits of the account are all that they know.
func TestAPaymentIsFoundByItsLastDigitsAndHalfOfItIsGivenBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		p := enter(t, s, store.Finance)
		p.press("g")
		p.press("t")
		p.awaitHead("Transactions")
		p.press("/")
		p.await(`document.activeElement.id === "q"`)
		evaluate[bool](p, `(() => { document.activeElement.value = ""; return true; })()`) // a played key is typed all the same
		p.press(apptest.Approved[len(apptest.Approved)-4:] + "\r")
		p.await(`new URL(location).searchParams.get("q") && document.querySelectorAll("table.list tbody tr").length === 2`)
		p.checkAccessible("a list")
		p.picture("transactions")
		p.press("j")
		p.press("j")
		p.await(`document.activeElement.closest("tr") === document.querySelectorAll("table.list tbody tr")[1]`)
		p.do(chromedp.Navigate(s.URL + "/dashboard/transactions/" + c.transaction + "/"))
		p.awaitHead(c.reference)
		evaluate[bool](p, `(() => { window.confirm = () => true; document.querySelector("details.action").open = true; return true; })()`)
		p.picture("transaction")
		p.checkAccessible("a payment")
		whole := evaluate[string](p, `document.querySelector("[name=amount]").value`)
		evaluate[bool](p, `(() => { document.querySelector("[name=amount]").value = (Number("`+whole+`") / 2).toFixed(2); return true; })()`)
		p.do(chromedp.Click(chromedp.CSS("details.action button")))
		p.await(`document.querySelector(".notice")?.innerText.includes("is approved.")`)
		p.await(`document.querySelector(".timeline").innerText.includes("A refund was asked for.")`)
		p.picture("timeline")
		story := evaluate[string](p, `document.querySelector(".timeline").innerText`)
		for _, part := range []string{"A session was made", "Attempt 1", "The gateway approved.", "transaction.created", "A refund of", "operator:"} {
			if !strings.Contains(story, part) {
				t.Errorf("the timeline does not tell %q:\n%s", part, story)
			}
		}
		refunded, paid := storetest.Scalar[int](t, s.Env, `SELECT refunded_minor FROM transactions WHERE id = $1`, c.transaction),
			storetest.Scalar[int](t, s.Env, `SELECT amount_minor FROM transactions WHERE id = $1`, c.transaction)
		if refunded == 0 || refunded != (paid+1)/2 && refunded != paid/2 {
			t.Errorf("%d of %d were given back, want half", refunded, paid)
		}
	})
}

// TestEveryScreenIsAccessible looks at each screen with axe, and keeps pictures.
func TestEveryScreenIsAccessible(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	c := openCounter(t, s)
	s.Pay(t, s.Create(t, apptest.InCampaign(apptest.ServerCampaign)), apptest.DeclinedInsufficientFunds)
	s.Do(t, apptest.Request{
		Path: "/admin/v1/chargebacks/", Key: apptest.AdminToken, Body: apptest.Body{"transaction_id": c.rivals[0], "reason_code": "AM04"},
	}).Want(t, http.StatusCreated, nil)
	chargeback := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM chargebacks`)
	openBank(t, s)
	haveADay(t, s)
	file, entry := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM bank_files`), storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM bank_lines WHERE result = 'unmatched'`)
	p := enter(t, s, store.Administrator)
	for name, path := range map[string]string{
		"bank-files": "bank-files/", "bank-file": "bank-files/" + file + "/", "bank-statements": "bank-statements/", "bank-take-in": "bank-statements/new/",
		"bank-entries": "bank-entries/?matched=false", "bank-entry": "bank-entries/" + entry + "/", "paused": "setup/paused/",
		"counted": "transactions/?counted=declined&decline_code=insufficient_funds", "found": "transactions/?q=Weber", "columns": "transactions/?columns=amount,iban,status,tenant,id",
		"numbers": "", "sessions": "sessions/", "subscriptions": "subscriptions/", "chargebacks": "chargebacks/", "leads": "leads/", "mandates": "mandates/",
		"events": "events/", "imports": "imports/", "matching": "imports/matching/", "session": "sessions/" + c.session + "/",
		"subscription": "subscriptions/" + c.subscription + "/", "lead": "leads/" + c.lead + "/", "chargeback": "chargebacks/" + chargeback + "/",
		"event": "events/" + c.event + "/", "mandate": "mandates/" + c.mandate + "/", "empty": "transactions/?q=nobody+has+this", "missing": "transactions/nothing/",
	} {
		p.do(chromedp.Navigate(s.URL + "/dashboard/" + path))
		p.await(`document.querySelector("h1")`)
		p.checkAccessible(name)
		p.picture(name)
	}
	p.press("?")
	p.await(`document.getElementById("keys").open`)
	p.checkAccessible("help")
}

// haveADay fills the counter with what a day brings: payments of many people, most of
// them good, and a question of every kind.
func haveADay(t *testing.T, s *apptest.Server) {
	t.Helper()
	outcomes := []string{apptest.Approved, apptest.Approved, apptest.PendingApproved, apptest.Approved, apptest.DeclinedInsufficientFunds, apptest.Approved, apptest.DeclinedMandateRejected}
	for i, name := range []string{
		"Anna Weber", "Jonas Weber", "Sofía Núñez Olmo", "Maximilian Oberhuber-Schattenfroh", "Liv Ås", "Emre Yıldız", "Chloé Dubois", "Jan de Vries", "Zofia Wiśniewska", "Ines Weber",
		"Tom Fischer", "Käthe Müller", "Björn Lindqvist", "Maria Rossi", "Nora Kühn", "Paul Meyer", "Eva Novák", "Luca Moretti", "Greta Holm", "Oskar Ziegler",
	} {
		first, last, _ := strings.Cut(name, " ")
		lead := apptest.Lead().With(apptest.Body{"first_name": first, "last_name": last, "email": strings.ToLower(first) + fmt.Sprintf("%d@post.example", i)})
		body := apptest.InCampaign(apptest.MonthlyCampaign).With(apptest.Body{"lead": lead})
		if i%3 == 0 {
			body = apptest.Direct().With(apptest.Body{"lead": lead, "amount": fmt.Sprintf("%d.90", 19+7*i)})
		}
		s.Pay(t, s.Create(t, body), outcomes[i%len(outcomes)], apptest.Body{"iban_holder_name": name})
	}
	leaveOpen(t, s)
}

// A viewer sees, and does nothing.
func TestAViewerTriesEverythingAndIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		p := enter(t, s, store.Viewer)
		for _, path := range []string{"transactions/" + c.transaction + "/", "subscriptions/" + c.subscription + "/", "events/" + c.event + "/", "events/"} {
			p.do(chromedp.Navigate(s.URL + "/dashboard/" + path))
			p.await(`document.querySelector("h1")`)
			if offered := evaluate[int](p, `document.querySelectorAll("main form[method=post]").length`); offered != 0 {
				t.Errorf("%s offers a viewer %d forms", path, offered)
			}
		}
		p.do(chromedp.Navigate(s.URL + "/dashboard/transactions/"))
		p.awaitHead("Transactions")
		for _, path := range []string{
			"transactions/" + c.transaction + "/refund/", "transactions/" + c.transaction + "/chargeback/", "subscriptions/" + c.subscription + "/cancel/",
			"subscriptions/" + c.subscription + "/pause/", "subscriptions/" + c.subscription + "/resume/", "subscriptions/" + c.subscription + "/change/",
			"events/" + c.event + "/resend/", "events/resend/", "imports/matching/", "people/",
		} {
			if status := evaluate[int](p, `fetch("/dashboard/`+path+`", {method: "POST", body: new URLSearchParams({amount: "1.00"})}).then((r) => r.status)`); status != http.StatusForbidden {
				t.Errorf("POST %s of a viewer is answered %d", path, status)
			}
		}
		for _, path := range []string{"mandates/" + c.mandate + "/", "audit/", "people/", "imports/matching/", "transactions/?format=csv"} {
			p.do(chromedp.Navigate(s.URL + "/dashboard/" + path))
			p.awaitHead("Not for you")
		}
		p.picture("refused")
		if changed := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM audit_entries WHERE action LIKE 'refund%' OR action LIKE 'subscription%' OR action LIKE 'delivery%'`); changed != 0 {
			t.Errorf("a viewer did %d things", changed)
		}
	})
}
