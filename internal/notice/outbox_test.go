package notice_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/notice"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

const houseBank = "019d0000-0000-7000-8000-0000000000b1"

// desk is a shop that collects through a bank and writes to its payers.
type desk struct {
	*apptest.Server
	log *strings.Builder
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return open(t, apptest.SQLite(t, apptest.Options{}), "all")
}

func open(t *testing.T, s *apptest.Server, send string) *desk {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "bank")
	t.Cleanup(func() { s.Stop(t) }) // before its folder is taken away
	s.Apply(t, `tenants:
  - id: `+apptest.Shop+`
    name: Bergladen & Söhne
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    notices: {sender: '"Berg \"Hof\" & Söhne" <konto@bergladen.example>', reply_to: hilfe@bergladen.example, send: `+send+`}
    gateways:
      - id: `+houseBank+`
        name: House bank
        adapter: bank
        test_mode: true
        settings: {account_iban: DE89370400440532013000, notice_days: 3, folder: "`+folder+`"}
`)
	return &desk{s, &strings.Builder{}}
}

var monthly = apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"}

func (d *desk) pay(t *testing.T, more ...apptest.Body) string {
	t.Helper()
	body := apptest.Direct().With(apptest.Body{"gateway_id": houseBank})
	for _, m := range more {
		body = body.With(m)
	}
	return d.Pay(t, d.Create(t, body), apptest.Approved).Want(t, 200, apptest.Fields{"transaction.status": "pending"}).Text(t, "transaction.id")
}

func (d *desk) outbox(server *notice.Server) *notice.Outbox {
	return &notice.Outbox{Store: d.App.Store, Server: server, Clock: clock.Real{}, Logger: slog.New(slog.NewTextHandler(d.log, nil))}
}

// send sends what is due and expects so many mails to be dealt with.
func (d *desk) send(t *testing.T, server *notice.Server, want int) {
	t.Helper()
	if done, err := d.outbox(server).Run(t.Context()); done != want || err != nil {
		t.Fatalf("%d were dealt with, want %d: %v", done, want, err)
	}
}

// again lets the wait before the next try pass.
func (d *desk) again(t *testing.T) {
	t.Helper()
	d.Env.Exec(t, `UPDATE mails SET next_attempt_at = 0`)
}

func (d *desk) mails(t *testing.T) []store.Mail {
	t.Helper()
	part, err := listing.SearchMails(t.Context(), d.App.Store, listing.MailSearch{}, listing.Paging{Limit: 1000})
	must(t, err)
	return part.Rows
}

func (d *desk) mail(t *testing.T) store.Mail {
	t.Helper()
	all := d.mails(t)
	if len(all) != 1 {
		t.Fatalf("%d mails", len(all))
	}
	return all[0]
}

// parts reads a mail: its header, its text and its HTML.
func parts(t *testing.T, raw string) (header mail.Header, text, html string) {
	t.Helper()
	read, err := mail.ReadMessage(strings.NewReader(raw))
	must(t, err)
	kind, params, err := mime.ParseMediaType(read.Header.Get("Content-Type"))
	must(t, err)
	if kind != "multipart/alternative" {
		t.Fatalf("it is %s", kind)
	}
	bodies := map[string]string{}
	for reader := multipart.NewReader(read.Body, params["boundary"]); ; {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return read.Header, bodies["text/plain"], bodies["text/html"]
		}
		must(t, err)
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		must(t, err)
		kind, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		must(t, err)
		bodies[kind] = strings.ReplaceAll(string(body), "\r\n", "\n")
	}
}

func TestAPayerIsToldByMail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		d, p := open(t, s, "all"), opens(t, nil)
		id := d.pay(t)
		paid, err := d.App.Store.Tenant(uuid.MustParse(apptest.Shop)).Transaction(t.Context(), uuid.MustParse(id))
		must(t, err)
		m := d.mail(t)
		if m.Status != store.MailPending || m.Kind != store.MailAnnounced || m.TransactionID != paid.ID || m.DueDate != paid.DueDate {
			t.Errorf("in line is %+v", m)
		}
		d.send(t, p.at(t), 1)
		d.send(t, p.at(t), 0)
		sent := p.taken()
		if len(sent) != 1 || d.mail(t).Status != store.MailSent || d.mail(t).SentAt.IsZero() {
			t.Fatalf("%d mails, %+v", len(sent), d.mail(t))
		}
		header, text, html := parts(t, sent[0])
		from, err := mail.ParseAddress(header.Get("From"))
		must(t, err)
		if from.Name != `Berg "Hof" & Söhne` {
			t.Errorf("it is from %q", from.Name)
		}
		words := new(mime.WordDecoder)
		subject, err := words.DecodeHeader(header.Get("Subject"))
		must(t, err)
		if !strings.Contains(subject, "Bergladen & Söhne") || !strings.Contains(subject, "49") {
			t.Errorf("its subject is %q", subject)
		}
		for name, want := range map[string]string{
			"From": "konto@bergladen.example", "Reply-To": "hilfe@bergladen.example", "To": paid.Email,
			"Message-Id": m.ID.String() + "@bergladen.example", "Auto-Submitted": "auto-generated",
		} {
			if !strings.Contains(header.Get(name), want) {
				t.Errorf("%s is %q", name, header.Get(name))
			}
		}
		for _, want := range []string{"Bergladen GmbH", "DE98ZZZ09999999999", paid.MandateReference, paid.IBANLast4(), "hilfe@bergladen.example"} {
			if !strings.Contains(text, want) || !strings.Contains(html, want) {
				t.Errorf("%q is not said in text and HTML", want)
			}
		}
		if strings.Contains(html, "Bergladen & S") || !strings.Contains(html, "Bergladen &amp; Söhne") {
			t.Error("the shop's name is not escaped")
		}
		if strings.Contains(text+html, apptest.Approved) || strings.Contains(d.log.String(), paid.Email) {
			t.Error("the account or the address is told")
		}
	})
}

func TestWhatAMailServerSays(t *testing.T) {
	t.Parallel()
	later := &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "Greylisted person@example.org"}
	never := &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such person@example.org"}
	for name, test := range map[string]struct {
		post   func(*post)
		runs   int
		status store.MailStatus
		taken  int
		result string
	}{
		"a refusal for now is tried again":                  {func(p *post) { p.rcpt = []error{later, later} }, 3, store.MailSent, 1, ""},
		"a text that is refused for now is tried again":     {func(p *post) { p.data = []error{later} }, 2, store.MailSent, 1, ""},
		"a refusal for good is kept":                        {func(p *post) { p.rcpt = []error{never} }, 1, store.MailFailed, 0, "550 5.1.1"},
		"a text that is refused for good is kept":           {func(p *post) { p.data = []error{never} }, 1, store.MailFailed, 0, "550 5.1.1"},
		"one that may have been taken is sent once more":    {func(p *post) { p.drops = 1 }, 2, store.MailSent, 1, ""},
		"one that may have been taken twice is left alone":  {func(p *post) { p.drops = 2 }, 2, store.MailFailed, 0, "lost after the text"},
		"a server that is away is asked again, within days": {func(p *post) { _ = p.listener.Close() }, 9, store.MailFailed, 0, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, p := newDesk(t), opens(t, nil)
			test.post(p)
			d.pay(t)
			for run := range test.runs {
				if m := d.mail(t); m.Status != store.MailPending {
					t.Fatalf("before try %d it is %s", run+1, m.Status)
				}
				d.again(t)
				d.send(t, p.at(t), 1)
			}
			m := d.mail(t)
			if m.Status != test.status || len(p.taken()) != test.taken || m.AttemptCount != test.runs || !strings.Contains(m.Result, test.result) {
				t.Errorf("%s after %d tries, %d taken: %q", m.Status, m.AttemptCount, len(p.taken()), m.Result)
			}
			if strings.Contains(m.Result+d.log.String(), "person") {
				t.Error("the server's words about a person are kept")
			}
			d.again(t)
			d.send(t, p.at(t), 0)
		})
	}
}

func TestAMailIsSentByOneOfManyAndOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		d, p := open(t, s, "all"), opens(t, nil)
		const many = 12
		for range many {
			d.pay(t)
		}
		var senders sync.WaitGroup
		for range 4 {
			senders.Go(func() {
				if _, err := d.outbox(p.at(t)).Run(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		senders.Wait()
		if len(p.taken()) != many {
			t.Errorf("%d mails were sent, want %d", len(p.taken()), many)
		}
	})
}

func TestASenderThatDied(t *testing.T) {
	t.Parallel()
	d, p := newDesk(t), opens(t, nil)
	d.pay(t)
	die := func() {
		t.Helper()
		claimed, err := d.App.Store.ClaimMails(t.Context(), time.Unix(0, 0), time.Hour, 10)
		if err != nil || len(claimed) != 1 {
			t.Fatalf("%d were claimed: %v", len(claimed), err)
		}
	}
	die()
	d.send(t, p.at(t), 0) // somebody has it
	d.Env.Exec(t, `UPDATE mails SET leased_until = 1`)
	die()
	d.Env.Exec(t, `UPDATE mails SET leased_until = 1`)
	d.send(t, p.at(t), 1)
	if m := d.mail(t); m.Status != store.MailFailed || len(p.taken()) != 0 {
		t.Errorf("it is %s, %d were sent", m.Status, len(p.taken()))
	}
	t.Run("a person has it sent all the same", func(t *testing.T) {
		path := "/admin/v1/mails/" + d.mail(t).ID.String() + "/"
		d.Do(t, apptest.Request{Path: path + "resend/", Key: apptest.AdminToken, Body: apptest.Body{}}).Want(t, 200, apptest.Fields{"status": "pending"})
		d.send(t, p.at(t), 1)
		shown := d.Do(t, apptest.Request{Path: path, Key: apptest.AdminToken}).Want(t, 200, apptest.Fields{"status": "sent", "result": nil})
		if text := shown.Text(t, "text"); len(p.taken()) != 1 || !strings.Contains(text, "DE98ZZZ09999999999") {
			t.Errorf("%d were sent: %s", len(p.taken()), text)
		}
		d.Do(t, apptest.Request{Path: "/admin/v1/mails/?status=sent", Key: apptest.AdminToken}).Want(t, 200, nil)
		d.Do(t, apptest.Request{Path: "/admin/v1/mails/" + payment.NewID().String() + "/", Key: apptest.AdminToken}).Want(t, 404, nil)
	})
}

// TestOfWhatPayersAreToldByMail lets a subscription run for some months.
// TestASenderThatStops has no time for all that it has claimed.
func TestASenderThatStops(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		d, p := open(t, s, "all"), opens(t, nil)
		for range 3 {
			d.pay(t)
		}
		ctx, stop := context.WithCancel(t.Context())
		p.came = stop
		if _, err := d.outbox(p.at(t)).Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
		for _, m := range d.mails(t) {
			if isSent := m.Status == store.MailSent; m.UnknownCount != 0 || isSent != (m.AttemptCount == 1) {
				t.Errorf("a mail is %+v", m)
			}
		}
		if n := len(p.taken()); n != 1 {
			t.Errorf("%d were sent", n)
		}
		d.send(t, p.at(t), 2) // at once, by whoever comes next
	})
}

func TestOfWhatPayersAreToldByMail(t *testing.T) {
	t.Parallel()
	for send, want := range map[string]int{"all": 4, "first_and_changes": 1, "none": 0} {
		t.Run(send, func(t *testing.T) {
			t.Parallel()
			d := open(t, apptest.SQLite(t, apptest.Options{}), send)
			d.pay(t, monthly)
			d.Advance(t, 95*24*time.Hour)
			if told := storetest.Scalar[int](t, d.Env, `SELECT COUNT(*) FROM events WHERE kind = 'collection.announced'`); told != 4 || len(d.mails(t)) != want {
				t.Errorf("%d collections, %d mails", told, len(d.mails(t)))
			}
		})
	}
}

func TestAMailThatNoLongerHoldsIsDropped(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"its collection was withdrawn":    `UPDATE transactions SET status = 'declined', decline_code = 'unknown'`,
		"its collection has another day":  `UPDATE transactions SET due_date = '2030-01-02'`,
		"its payer is not known any more": `UPDATE transactions SET email = ''`,
		"it was in line for too long":     `UPDATE mails SET queued_at = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, p := newDesk(t), opens(t, nil)
			d.pay(t)
			d.Env.Exec(t, change)
			d.send(t, p.at(t), 1)
			if m := d.mail(t); m.Status != store.MailDropped || m.Result == "" || len(p.taken()) != 0 {
				t.Errorf("it is %s (%s), %d were sent", m.Status, m.Result, len(p.taken()))
			}
		})
	}
}
