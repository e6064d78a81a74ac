package api_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/limit"
	"sepad/internal/payment"
	"sepad/internal/record"
)

const reconPath = "/api/v1/reconciliation/"

// listings are the three endpoints.
var listings = []string{"transactions", "chargebacks", "subscriptions"}

// list asks for a page with the shop's key.
func list(t testing.TB, s *apptest.Server, listing string, parameters url.Values) apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Path: reconPath + listing + "/?" + parameters.Encode(), Key: s.Key})
}

// today are the parameters for what happened in the last days.
func today(t testing.TB, s *apptest.Server, more ...string) url.Values {
	t.Helper()
	parameters := url.Values{"start_date": {payment.DateOf(s.Now(t).AddDate(0, 0, -2)).String()}}
	for i := 0; i < len(more); i += 2 {
		parameters.Set(more[i], more[i+1])
	}
	return parameters
}

// results are the records of a JSON page.
func results(t testing.TB, answer apptest.Answer) (records []map[string]any) {
	t.Helper()
	var page struct{ Results []map[string]any }
	if err := json.Unmarshal(answer.Want(t, http.StatusOK, nil).Raw, &page); err != nil {
		t.Fatal(err)
	}
	return page.Results
}

func wantRecord(t testing.TB, got map[string]any, want apptest.Fields) {
	t.Helper()
	for name, value := range want {
		if fmt.Sprint(got[name]) != fmt.Sprint(value) {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
}

func TestPaymentsAreListed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, paid := s.Completed(t, apptest.InCampaign(apptest.MonthlyCampaign))
		token := s.Create(t, apptest.Direct())
		s.Pay(t, token, apptest.DeclinedInsufficientFunds, apptest.Body{"tenant_reference_id": "order-1"}).Want(t, http.StatusOK, nil)
		records := results(t, list(t, s, "transactions", today(t, s)))
		if len(records) != 2 {
			t.Fatalf("%d transactions are listed", len(records))
		}
		wantRecord(t, records[0], apptest.Fields{
			"status": "declined", "type": "sdd_sale", "amount": "49.00", "currency": "EUR", "tenant_reference_id": "order-1",
			"customer_name_csv": apptest.HolderName, "source": "api_submission", "payment_gateway_id": apptest.Gateway, "subscription_id": nil,
		})
		wantRecord(t, records[1], apptest.Fields{
			"id": paid.Get(t, "transaction.id"), "status": "approved", "order_id": paid.Get(t, "order.id"), "tenant_reference_id": nil,
			"subscription_id": paid.Get(t, "subscription.id"), "lead_id": paid.Get(t, "lead.id"),
		})
		subscriptions := results(t, list(t, s, "subscriptions", today(t, s, "status", "ACTIVE")))
		if len(subscriptions) != 1 {
			t.Fatalf("%d subscriptions are listed", len(subscriptions))
		}
		wantRecord(t, subscriptions[0], apptest.Fields{
			"id": paid.Get(t, "subscription.id"), "status": "ACTIVE", "billing_frequency": "MONTHLY", "order_id": paid.Get(t, "order.id"),
			"next_billing_date": paid.Get(t, "subscription.next_billing_date"), "successful_billing_count": 0,
		})
		for _, listing := range listings {
			answer := s.Do(t, apptest.Request{Path: reconPath + listing + "/?" + today(t, s).Encode(), Key: s.RivalKey})
			if others := results(t, answer); len(others) != 0 {
				t.Errorf("another tenant sees %d %s", len(others), listing)
			}
		}
	})
}

func TestAPaymentWithoutAnAnswerIsNotListed(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	s.Pay(t, s.Create(t, apptest.Direct()), apptest.TimeoutApproved).Want(t, http.StatusInternalServerError, nil)
	if records := results(t, list(t, s, "transactions", today(t, s))); len(records) != 0 {
		t.Errorf("%d are listed", len(records))
	}
	s.LookUp(t)
	if records := results(t, list(t, s, "transactions", today(t, s))); len(records) != 1 {
		t.Errorf("%d are listed once the gateway has answered", len(records))
	}
}

// ledgerDay is when the written records of these tests lie.
var ledgerDay = time.Date(2026, time.February, 28, 0, 0, 0, 0, time.UTC)

// hostileTexts are what spreadsheets, parsers and people stumble over. PostgreSQL
// takes neither NUL nor what is no UTF-8.
var hostileTexts = []string{
	"=HYPERLINK(1)", "+1", "-1", "@x", "\tx", "\rx", "a,b", "a\"b", "a\r\nb", "<b>&amp;</b>", "]]>", "\x01\x1f", "\u2028",
	"\ufffe\uffff", "😀", " blank ", "'quoted", "Zoë", "\\\"", "null",
}

// writeLedger writes records of every kind with hostile texts in them.
func writeLedger(t testing.TB, s *apptest.Server, tenant string) {
	t.Helper()
	tenantID, gatewayID := uuid.MustParse(tenant), uuid.MustParse(apptest.Gateway)
	var transactions []payment.Transaction
	var chargebacks []payment.Chargeback
	var subscriptions []payment.Subscription
	for i, text := range hostileTexts {
		at := ledgerDay.Add(time.Duration(i) * time.Hour)
		transactions = append(transactions, payment.Transaction{
			ID: payment.NewID(), TenantID: tenantID, GatewayID: gatewayID, MerchantTransactionID: fmt.Sprint("TXN-", i, text),
			Status: payment.TransactionStatuses[i%5], Type: payment.Sale, AmountMinor: 1999, Currency: "EUR", Source: payment.SourceImport,
			HolderName: text, Email: text, MaskedIBAN: "******************3000", ProcessedAt: at, CreatedAt: at, UpdatedAt: at,
		})
		chargebacks = append(chargebacks, payment.Chargeback{
			ID: payment.NewID(), TenantID: tenantID, GatewayID: gatewayID, MerchantTransactionID: fmt.Sprint("TXN-", i, text),
			TenantReferenceID: &text, AmountMinor: 1999, Currency: "EUR", ReasonMessage: text, ReportInfo: text, ReportedAt: at,
			Source: payment.ChargebackImported, BankFeeMinor: new(payment.Minor(350)), CreatedAt: at, UpdatedAt: at,
		})
		subscriptions = append(subscriptions, payment.Subscription{
			ID: payment.NewID(), TenantID: tenantID, OrderID: payment.NewID(), LeadID: payment.NewID(), GatewayID: gatewayID,
			Status: payment.SubscriptionStatuses[i%3], AmountMinor: 1999, RevenueMinor: payment.Minor(1000 - 700*i), Currency: "EUR",
			AnchorDate: payment.DateOf(at), StartedAt: at, CreatedAt: at, UpdatedAt: at,
		})
	}
	s.Env.InsertTransactions(t, transactions)
	s.Env.InsertChargebacks(t, chargebacks)
	s.Env.InsertSubscriptions(t, subscriptions)
}

// inFebruary are the parameters for what writeLedger wrote.
func inFebruary(more ...string) url.Values {
	parameters := url.Values{"start_date": {"2026-02-28"}, "end_date": {"2026-03-01"}, "page_size": {"7"}}
	for i := 0; i < len(more); i += 2 {
		parameters.Set(more[i], more[i+1])
	}
	return parameters
}

// columnNames are those of the column tables, by listing.
func columnNames(listing string) (names []string) {
	switch listing {
	case "transactions":
		for _, c := range record.Transactions {
			names = append(names, c.Name)
		}
	case "chargebacks":
		for _, c := range record.Chargebacks {
			names = append(names, c.Name)
		}
	default:
		for _, c := range record.Subscriptions {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestAQueryHasTheSameValuesInEveryFormat(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		writeLedger(t, s, apptest.Shop)
		for _, listing := range listings {
			parameters, pages := inFebruary(), 0
			for more := true; more; pages++ {
				next := comparePage(t, s, listing, parameters)
				if more = next != ""; more {
					address, err := url.Parse(next)
					if err != nil || !strings.HasPrefix(next, s.URL+reconPath+listing+"/?") {
						t.Fatalf("the next page is at %q", next)
					}
					parameters = address.Query()
				}
			}
			if want := (len(hostileTexts) + 6) / 7; pages != want {
				t.Errorf("%s: %d pages, want %d", listing, pages, want)
			}
		}
	})
}

// comparePage asks for a page in each format, compares all values and headers,
// and gives the address of the next page.
func comparePage(t *testing.T, s *apptest.Server, listing string, parameters url.Values) string {
	t.Helper()
	in := func(format string) apptest.Answer {
		parameters.Set("format", format)
		return list(t, s, listing, parameters).Want(t, http.StatusOK, nil)
	}
	asCSV, asXML, asJSON := in("csv"), in("xml"), in("json")
	names := columnNames(listing)
	csvRows, xmlRows := csvRecords(t, asCSV.Raw), xmlRecords(t, asXML.Raw)
	if !slices.Equal(csvRows[0], names) {
		t.Errorf("the CSV begins with %v", csvRows[0])
	}
	records := results(t, asJSON)
	if len(csvRows) != len(records)+1 || len(xmlRows) != len(records) {
		t.Fatalf("%d records are %d in CSV and %d in XML", len(records), len(csvRows)-1, len(xmlRows))
	}
	for i, one := range records {
		for c, name := range names {
			want := ""
			if one[name] != nil {
				want = fmt.Sprint(one[name])
			}
			if got := csvRows[i+1][c]; got != want && got != "'"+want {
				t.Errorf("%s %s is %q in CSV and %q in JSON", listing, name, got, want)
			}
			if got := xmlRows[i][c]; got != printable(want) {
				t.Errorf("%s %s is %q in XML and %q in JSON", listing, name, got, want)
			}
		}
	}
	wantHeaders(t, s, listing, asJSON, asXML, asCSV)
	next, _ := asJSON.Get(t, "next").(string)
	return next
}

// printable leaves out what XML 1.0 forbids.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == '\uFFFE' || c == '\uFFFF' {
			return -1
		}
		return c
	}, text)
}

func wantHeaders(t *testing.T, s *apptest.Server, listing string, asJSON, asXML, asCSV apptest.Answer) {
	t.Helper()
	for want, answer := range map[string]apptest.Answer{
		"application/json": asJSON, "application/xml; charset=utf-8": asXML, "text/csv; charset=utf-8": asCSV,
	} {
		if got := answer.Header.Get("Content-Type"); got != want {
			t.Errorf("the media type is %q, want %q", got, want)
		}
		next, previous := asJSON.Get(t, "next") != nil, asJSON.Get(t, "previous") != nil
		links := answer.Header.Get("Link")
		if strings.Contains(links, `rel="next"`) != next || strings.Contains(links, `rel="prev"`) != previous ||
			strings.Count(links, "<"+s.URL+reconPath+listing+"/?") != strings.Count(links, "rel=") {
			t.Errorf("the links are %q", links)
		}
	}
	file := fmt.Sprintf(`attachment; filename="%s_%s.csv"`, listing, payment.DateOf(s.Now(t)))
	if got := asCSV.Header.Get("Content-Disposition"); got != file {
		t.Errorf("the file is %q, want %q", got, file)
	}
}

// TestNoListRepeatsALongAddress asks for a page whose links would be longer than a proxy has room for in an answer's head.
func TestNoListRepeatsALongAddress(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for range 21 {
			s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved).Want(t, http.StatusOK, nil)
		}
		next, _ := list(t, s, "transactions", today(t, s, "page_size", "10")).Want(t, http.StatusOK, nil).Get(t, "next").(string)
		second := apptest.Request{Path: strings.TrimPrefix(next, s.URL), Key: s.Key}
		if links := s.Do(t, second).Want(t, http.StatusOK, nil).Header.Get("Link"); strings.Count(links, "rel=") != 2 {
			t.Fatalf("the links are %q", links)
		}
		for _, format := range []string{"json", "csv", "xml"} {
			long := second
			long.Path += "&format=" + format + "&more=" + strings.Repeat("%FF", 600)
			answer := s.Do(t, long)
			answer.WantBad(t, map[string]string{"more": "With so long a parameter there is no room for the addresses of other pages."})
			if links := answer.Header.Get("Link"); links != "" {
				t.Errorf("%s: the links are %d bytes", format, len(links))
			}
		}
	})
}

func TestTheFileIsNamedByTheServicesDay(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	s.Advance(t, 40*24*time.Hour)
	answer := list(t, s, "transactions", inFebruary("format", "csv"))
	want := "transactions_" + payment.DateOf(s.Now(t)).String() + ".csv"
	if !strings.Contains(answer.Header.Get("Content-Disposition"), want) {
		t.Errorf("the file is %q, want %s", answer.Header.Get("Content-Disposition"), want)
	}
}

// xmlRecords reads the records of an XML page, each as its values in order.
func xmlRecords(t testing.TB, text []byte) (rows [][]string) {
	t.Helper()
	decoder, depth := xml.NewDecoder(strings.NewReader(string(text))), 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		const records, fields = 3, 4
		switch part := token.(type) {
		case xml.StartElement:
			if depth++; depth == records {
				rows = append(rows, nil)
			} else if depth == fields {
				rows[len(rows)-1] = append(rows[len(rows)-1], "")
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == fields {
				row := rows[len(rows)-1]
				row[len(row)-1] += string(part)
			}
		}
	}
}

// csvRecords reads a file as RFC 4180 has it, with line breaks within cells as
// they are.
func csvRecords(t testing.TB, text []byte) (rows [][]string) {
	t.Helper()
	row, cell, isQuoted := []string{}, strings.Builder{}, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && isQuoted && i+1 < len(text) && text[i+1] == '"':
			cell.WriteByte('"')
			i++
		case c == '"':
			isQuoted = !isQuoted
		case c == ',' && !isQuoted:
			row = append(row, cell.String())
			cell.Reset()
		case c == '\r' && !isQuoted:
			rows, row = append(rows, append(row, cell.String())), nil
			cell.Reset()
			i++ // the line feed
		default:
			cell.WriteByte(c)
		}
	}
	if isQuoted || cell.Len() > 0 {
		t.Errorf("the file does not end with a line: %q", cell.String())
	}
	return rows
}

func TestListingsRefuse(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	for _, listing := range listings {
		list(t, s, listing, nil).WantBad(t, map[string]string{"start_date": "start_date is required."})
		for parameter, value := range map[string]string{
			"start_date": "28.02.2026", "end_date": "2026-02-27", "status": "unknown", "payment_gateway_id": "x", "format": "pdf",
			"page_size": "1001", "cursor": "x",
		} {
			list(t, s, listing, inFebruary(parameter, value)).WantBad(t, map[string]string{parameter: ""})
		}
		list(t, s, listing, inFebruary("end_date", "2026-05-30")).
			WantBad(t, map[string]string{"end_date": "end_date may be at most 90 days after start_date."})
		list(t, s, listing, inFebruary("end_date", "2026-05-29")).Want(t, http.StatusOK, nil)
		list(t, s, listing, inFebruary("format", "csv", "page_size", "0", "status", "x")).
			WantBad(t, map[string]string{"page_size": "", "status": ""})
		s.Do(t, apptest.Request{Path: reconPath + listing + "/?start_date=2026-02-28"}).
			WantDetail(t, http.StatusUnauthorized, "Authentication credentials were not provided")
		s.Do(t, apptest.Request{Path: reconPath + listing + "/?start_date=2026-02-28", Key: "rk_test_nobody"}).
			WantDetail(t, http.StatusUnauthorized, "Invalid or revoked API key")
		s.Do(t, apptest.Request{Path: reconPath + listing + "/?start_date=%zz", Key: s.Key}).Want(t, http.StatusBadRequest, nil)
	}
	list(t, s, "transactions", inFebruary("type", "chargeback")).WantBad(t, map[string]string{"type": ""})
	list(t, s, "chargebacks", inFebruary("type", "sdd_sale")).WantBad(t, map[string]string{"type": ""})
	list(t, s, "subscriptions", inFebruary("next_billing_date_from", "x", "next_billing_date_to", "y")).
		WantBad(t, map[string]string{"next_billing_date_from": "", "next_billing_date_to": ""})
}

func TestACursorIsGoodForItsQueryAlone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		writeLedger(t, s, apptest.Shop)
		next, err := url.Parse(list(t, s, "transactions", inFebruary("colour", "blue")).Text(t, "next"))
		if err != nil {
			t.Fatal(err)
		}
		parameters := next.Query()
		if parameters.Get("colour") != "blue" || parameters.Get("page_size") != "7" || parameters.Get("cursor") == "" {
			t.Errorf("the next page has %v", parameters)
		}
		refused := map[string]string{"cursor": ""}
		list(t, s, "chargebacks", parameters).WantBad(t, refused)
		s.Do(t, apptest.Request{Path: reconPath + "transactions/?" + parameters.Encode(), Key: s.RivalKey}).WantBad(t, refused)
		for name, value := range map[string]string{
			"status": "approved", "type": "sdd_sale", "start_date": "2026-02-27", "end_date": "2026-02-28", "payment_gateway_id": apptest.Gateway,
		} {
			other := next.Query()
			other.Set(name, value)
			list(t, s, "transactions", other).WantBad(t, refused)
		}
		parameters.Set("page_size", "100")
		parameters.Set("format", "json")
		if rest := results(t, list(t, s, "transactions", parameters)); len(rest) != len(hostileTexts)-7 {
			t.Errorf("%d records follow", len(rest))
		}
	})
}

func TestAForeignGatewayFindsNothing(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	writeLedger(t, s, apptest.Shop)
	for _, listing := range listings {
		if own := results(t, list(t, s, listing, inFebruary("payment_gateway_id", apptest.Gateway))); len(own) != 7 {
			t.Errorf("%d %s of the shop's gateway are listed", len(own), listing)
		}
		if others := results(t, list(t, s, listing, inFebruary("payment_gateway_id", apptest.RivalGateway))); len(others) != 0 {
			t.Errorf("%d %s of another's gateway are listed", len(others), listing)
		}
	}
}

func TestListingsShareOneLimit(t *testing.T) {
	t.Parallel()
	const rate = 3
	s := apptest.SQLite(t, apptest.Options{Rates: limit.Rates{limit.APIKeyReconciliation: rate}})
	for _, listing := range listings {
		request := apptest.Request{Path: reconPath + listing + "/?start_date=2026-02-28&format=csv"}
		mixed := apptest.Request{Path: reconPath + "transactions/?start_date=2026-02-28"}
		answers := burst(t, func() (*apptest.Server, []apptest.Request) {
			request.Key = s.NewKey(t, apptest.Shop, uuid.NewString())
			mixed.Key = request.Key
			return s, append(request.Times(5), mixed.Times(3)...)
		})
		wantLimit(t, answers, rate, 8)
	}
}
