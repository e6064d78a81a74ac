package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
)

// ownerFlag narrows a list to one tenant.
type ownerFlag struct {
	Tenant string `name:"tenant" short:"t" placeholder:"ID|NAME" help:"Only those of this tenant, by id or name."`
}

// listFlags are those of every list of the operator's API.
type listFlags struct {
	From  string `name:"from" query:"from" placeholder:"TIME" help:"Created from this time on: an instant such as 2026-03-31T12:00:00Z, or a day (UTC)."`
	To    string `name:"to" query:"to" placeholder:"TIME" help:"Created until this time, which belongs to it."`
	Limit int    `name:"limit" default:"50" help:"How many at most; 0 for all, however many pages they are (default: 50)."`
	ownerFlag
	outputFlag
	dataFlags
}

// list prints a list of the API. The flags of the command that have a tag "query" are
// its filters; columns are what a table shows of each record.
func (f listFlags) list(p *program, command any, path, columns string) error {
	return f.office(p, func(o *office) error {
		query := filtersOf(reflect.ValueOf(command).Elem())
		if f.Tenant != "" {
			id, err := o.tenantID(p.ctx, f.Tenant)
			if err != nil {
				return err
			}
			query.Set("tenant_id", id)
		}
		return o.print(path, query, f.Limit, f.JSON, columns)
	})
}

// print writes the records of a list as they are read.
func (o *office) print(path string, query url.Values, limit int, asJSON bool, columns string) error {
	printer := o.program.newRecordPrinter(asJSON, columns)
	if err := o.each(path, query, limit, printer.add); err != nil {
		return err
	}
	if printer.count == 0 && !asJSON {
		fmt.Fprintln(o.program.stderr, "There are none.")
	}
	return printer.end()
}

// filtersOf reads the flags that are parameters of the API, those of the structs that
// a command is made of included.
func filtersOf(command reflect.Value) url.Values {
	query := url.Values{}
	for field, value := range command.Fields() {
		if field.Anonymous {
			for name, values := range filtersOf(value) {
				query[name] = values
			}
		}
		if name := field.Tag.Get("query"); name != "" && value.String() != "" {
			query.Set(name, value.String())
		}
	}
	return query
}

// recordFlags name one record of the API.
type recordFlags struct {
	ID string `arg:"" help:"Which one, by its id."`
	outputFlag
	dataFlags
}

func (f recordFlags) show(p *program, path string) error {
	return f.office(p, func(o *office) error { return o.show(path+url.PathEscape(f.ID)+"/", f.JSON) })
}

// show prints one record of the API.
func (o *office) show(path string, asJSON bool) error {
	record, err := o.ask(http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	return o.program.printAnswer(asJSON, record)
}

// put makes or changes a record of fields that were given as NAME=VALUE, and shows it.
func (o *office) put(method, path string, texts []string, asJSON bool) error {
	fields, err := fieldsOf(texts)
	if err != nil {
		return err
	}
	record, err := o.ask(method, path, nil, fields)
	if err != nil {
		return err
	}
	return o.program.printAnswer(asJSON, record)
}

// printAnswer shows what the API has answered.
func (p *program) printAnswer(asJSON bool, record json.RawMessage) error {
	if asJSON {
		return p.printJSON(record)
	}
	return p.printRecord(record)
}

type transactionsCommand struct {
	List     transactionsListCommand     `cmd:"" help:"List payments and refunds, the newest first."`
	Show     transactionsShowCommand     `cmd:"" help:"Show one with all that is known of it."`
	Timeline transactionsTimelineCommand `cmd:"" help:"Show what happened to one, in order."`
	Refund   refundCommand               `cmd:"" help:"Give a payment back, wholly or in part."`
}

type transactionsListCommand struct {
	Status                string `name:"status" query:"status" placeholder:"STATUS" help:"pending, approved, declined, refunded or charged_back."`
	Type                  string `name:"type" query:"type" placeholder:"TYPE" help:"sdd_sale, sdd_refund or other_type."`
	Gateway               string `name:"gateway" short:"g" query:"payment_gateway_id" placeholder:"ID" help:"Of one gateway."`
	MerchantTransactionID string `name:"merchant-transaction-id" query:"merchant_transaction_id" placeholder:"TEXT" help:"The one with this id."`
	AdapterUniqueID       string `name:"adapter-unique-id" query:"adapter_unique_id" placeholder:"TEXT" help:"The one that the processor knows by this id."`
	TenantReferenceID     string `name:"tenant-reference-id" query:"tenant_reference_id" placeholder:"TEXT" help:"Those with a shop's own reference."`
	OrderNumber           string `name:"order-number" query:"order_number" placeholder:"ORD-…" help:"Those of an order."`
	Session               string `name:"session" query:"session_id" placeholder:"ID" help:"Those of a session."`
	Subscription          string `name:"subscription" query:"subscription_id" placeholder:"ID" help:"Those of a subscription."`
	Email                 string `name:"email" query:"email" placeholder:"ADDRESS" help:"Those of a person."`
	listFlags
}

func (c *transactionsListCommand) Run(p *program) error {
	return c.list(p, c, "transactions/", "id merchant_transaction_id type status amount+currency created_at date_processed order.order_number")
}

type transactionsShowCommand struct{ recordFlags }

func (c *transactionsShowCommand) Run(p *program) error { return c.show(p, "transactions/") }

type sessionsCommand struct {
	List     sessionsListCommand     `cmd:"" help:"List payment sessions, the newest first."`
	Show     sessionsShowCommand     `cmd:"" help:"Show one with its order."`
	Timeline sessionsTimelineCommand `cmd:"" help:"Show what happened to one, in order."`
}

type sessionsListCommand struct {
	Status      string `name:"status" query:"status" placeholder:"STATUS" help:"PENDING, AWAITING_VERIFICATION, COMPLETED, FAILED or EXPIRED."`
	Email       string `name:"email" query:"email" placeholder:"ADDRESS" help:"Those of a person."`
	Lead        string `name:"lead" query:"lead_id" placeholder:"ID" help:"Those of a lead."`
	OrderNumber string `name:"order-number" query:"order_number" placeholder:"ORD-…" help:"The one of an order."`
	Campaign    string `name:"campaign" query:"campaign_id" placeholder:"ID" help:"Those of a campaign."`
	Gateway     string `name:"gateway" short:"g" query:"payment_gateway_id" placeholder:"ID" help:"Those of a gateway."`
	listFlags
}

func (c *sessionsListCommand) Run(p *program) error {
	return c.list(p, c, "sessions/", "id status amount+currency billing_type attempts_used created_at expires_at order.order_number")
}

type sessionsShowCommand struct{ recordFlags }

func (c *sessionsShowCommand) Run(p *program) error { return c.show(p, "sessions/") }

type chargebacksCommand struct {
	List     chargebacksListCommand     `cmd:"" help:"List chargebacks, the newest first."`
	Show     chargebacksShowCommand     `cmd:"" help:"Show one."`
	Timeline chargebacksTimelineCommand `cmd:"" help:"Show what happened to one, in order."`
	Add      chargebacksAddCommand      `cmd:"" help:"Record by hand what no gateway has reported."`
}

type chargebacksListCommand struct {
	Source                string `name:"source" query:"source" placeholder:"SOURCE" help:"Where they came from, such as manual."`
	ReasonCode            string `name:"reason-code" query:"reason_code" placeholder:"CODE" help:"Those with a reason, such as MD06."`
	Gateway               string `name:"gateway" short:"g" query:"payment_gateway_id" placeholder:"ID" help:"Those of a gateway."`
	MerchantTransactionID string `name:"merchant-transaction-id" query:"merchant_transaction_id" placeholder:"TEXT" help:"The one of a payment, by that id."`
	Transaction           string `name:"transaction" query:"transaction_id" placeholder:"ID" help:"The one of a payment."`
	listFlags
}

func (c *chargebacksListCommand) Run(p *program) error {
	return c.list(p, c, "chargebacks/", "id merchant_transaction_id amount+currency cb_bank_fee reason_code source report_date transaction_id")
}

type chargebacksShowCommand struct{ recordFlags }

func (c *chargebacksShowCommand) Run(p *program) error { return c.show(p, "chargebacks/") }

type chargebacksAddCommand struct {
	Transaction string `arg:"" help:"The payment, by its id or its merchant_transaction_id."`
	ReasonCode  string `name:"reason-code" placeholder:"CODE" help:"The bank's reason, such as MD06."`
	Message     string `name:"message" placeholder:"TEXT" help:"What is to be noted about it."`
	ReportDate  string `name:"report-date" placeholder:"TIME" help:"When the bank reported it; now when not given."`
	Amount      string `name:"amount" placeholder:"AMOUNT" help:"What came back; the payment's amount when not given."`
	Fee         string `name:"fee" placeholder:"AMOUNT" help:"What the bank took for it."`
	outputFlag
	dataFlags
}

func (c *chargebacksAddCommand) Run(p *program) error {
	return c.office(p, func(o *office) error {
		_, id, err := findPayment(p, o.store, c.Transaction)
		if err != nil {
			return err
		}
		body := map[string]string{"transaction_id": id.String()}
		for name, text := range map[string]string{
			"reason_code": c.ReasonCode, "report_message": c.Message, "report_date": c.ReportDate, "amount": c.Amount, "cb_bank_fee": c.Fee,
		} {
			if text != "" {
				body[name] = text
			}
		}
		record, err := o.ask(http.MethodPost, "chargebacks/", nil, body)
		if err != nil {
			return err
		}
		return c.tell(p, record, "The chargeback of %s is recorded.", c.Transaction)
	})
}

type leadsListCommand struct {
	Email string `name:"email" query:"email" placeholder:"ADDRESS" help:"The one with this address."`
	listFlags
}

func (c *leadsListCommand) Run(p *program) error {
	return c.list(p, c, "leads/", "id email first_name last_name country created_at")
}

type leadsShowCommand struct{ recordFlags }

func (c *leadsShowCommand) Run(p *program) error { return c.show(p, "leads/") }

// isNotFound tells that the API knows nothing of that name.
func isNotFound(err error) bool {
	refused, ok := errors.AsType[*refusal](err)
	return ok && refused.status == http.StatusNotFound
}
