package dashboard

import (
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// What goes to merchants' banks, and what comes from there.

const (
	bankFilesPath      = "/dashboard/bank-files/"
	bankStatementsPath = "/dashboard/bank-statements/"
	bankLinesPath      = "/dashboard/bank-entries/"
)

// bankLinks lead from each of the lists to the others.
var bankLinks = []option{
	{bankFilesPath, "Files"}, {bankStatementsPath, "Answers"}, {bankLinesPath, "Entries"}, {bankLinesPath + "?matched=false", "Unmatched entries"},
}

var bankGatewayFilter = filter{Name: "gateway_id", Label: "Gateway", Options: gatewayFilter.Options}

func (d *Dashboard) bankFileList() list[store.BankFile] {
	type row = store.BankFile
	return list[row]{
		Name: "bank-files", Title: "Bank files", Hint: "Name, message id, id of a payment, or sum",
		Empty: "No file yet. A gateway with the adapter bank writes one a day, at its cut-off.",
		ID:    func(f *row) uuid.UUID { return f.ID },
		Columns: []column[row]{
			{Name: "created_at", Label: "Begun", Value: func(f *row, _ names) cell { return when(f.CreatedAt) }},
			{Name: "name", Label: "File", Value: func(f *row, _ names) cell { return to("bank-files", f.ID, f.Name) }},
			{Name: "state", Label: "State", Value: func(f *row, _ names) cell { return status(f.State) }},
			{Name: "kind", Label: "Kind", Value: func(f *row, _ names) cell { return text(string(f.Kind)) }},
			{Name: "due_date", Label: "Due", Value: func(f *row, _ names) cell { return text(f.DueDate) }},
			{Name: "count", Label: "Payments", Value: func(f *row, _ names) cell { return cell{Text: strconv.Itoa(f.Count), IsNumber: true} }},
			{Name: "sum", Label: "Sum", Value: func(f *row, _ names) cell { return money(f.SumMinor, euro) }},
			{Name: "gateway", Label: "Gateway", Value: func(f *row, n names) cell { return text(n.of(f.GatewayID)) }},
			{Name: "problem", Label: "Problem", Optional: true, Value: func(f *row, _ names) cell { return text(f.Problem) }},
			{Name: "message_id", Label: "Message", Optional: true, Value: func(f *row, _ names) cell { return text(f.MessageID) }},
			{Name: "id", Label: "Id", Optional: true, Value: func(f *row, _ names) cell { return text(f.ID.String()) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(f *row, n names) cell { return text(n.of(f.TenantID)) }},
		},
		Filters: []filter{tenantFilter, {Name: "state", Label: "State", Options: values(store.BankFileStates)}, bankGatewayFilter, fromFilter, toFilter},
		Search: func(q *listQuery) source[row] {
			search := listing.BankFileSearch{Common: q.common(), GatewayID: q.id("gateway_id"), State: chosen(q, "state", store.BankFileStates)}
			return sourceOf(d, search, listing.SearchBankFiles, listing.CountBankFiles)
		},
		Links: bankLinks[1:],
	}
}

// euro is what banks' files are in.
const euro = "EUR"

func (d *Dashboard) bankStatementList() list[store.BankStatement] {
	type row = store.BankStatement
	return list[row]{
		Name: "bank-statements", Title: "Answers of banks", Hint: "Name or id of a file",
		Empty: "No bank has answered yet. Status reports and statements are read where the gateway's settings say; one from a portal is taken in here.",
		ID:    func(s *row) uuid.UUID { return s.ID },
		Columns: []column[row]{
			{Name: "created_at", Label: "Taken in", Value: func(s *row, _ names) cell { return when(s.CreatedAt) }},
			{Name: "name", Label: "File", Value: func(s *row, _ names) cell {
				return cell{Text: s.Name, Href: bankLinesPath + "?statement_id=" + s.ID.String()}
			}},
			{Name: "state", Label: "State", Value: func(s *row, _ names) cell { return status(s.State) }},
			{Name: "count", Label: "Entries", Value: func(s *row, _ names) cell { return cell{Text: strconv.Itoa(s.LineCount), IsNumber: true} }},
			{Name: "problem", Label: "Problem", Value: func(s *row, _ names) cell { return text(s.Problem) }},
			{Name: "gateway", Label: "Gateway", Value: func(s *row, n names) cell { return text(n.of(s.GatewayID)) }},
			{Name: "id", Label: "Id", Optional: true, Value: func(s *row, _ names) cell { return text(s.ID.String()) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(s *row, n names) cell { return text(n.of(s.TenantID)) }},
		},
		Filters: []filter{tenantFilter, bankGatewayFilter, fromFilter, toFilter},
		Search: func(q *listQuery) source[row] {
			return sourceOf(d, listing.BankStatementSearch{Common: q.common(), GatewayID: q.id("gateway_id")}, listing.SearchBankStatements, listing.CountBankStatements)
		},
		Links: []option{{bankStatementsPath + "new/", "Take a bank's file in"}, bankLinks[0], bankLinks[2], bankLinks[3]},
	}
}

func (d *Dashboard) bankLineList() list[store.BankLine] {
	type row = store.BankLine
	yes := []string{"true", "false"}
	return list[row]{
		Name: "bank-entries", Title: "Entries of banks", Hint: "Reference, id of a payment, or amount",
		Empty: "No bank has said anything yet.",
		ID:    func(l *row) uuid.UUID { return l.ID },
		Columns: []column[row]{
			{Name: "booking_date", Label: "Booked", Value: func(l *row, _ names) cell {
				return to("bank-entries", l.ID, l.BookingDate+map[bool]string{true: "not booked"}[l.BookingDate == ""])
			}},
			{Name: "result", Label: "Result", Value: func(l *row, _ names) cell { return status(l.Result) }},
			{Name: "amount", Label: "Amount", Value: func(l *row, _ names) cell { return lineAmount(*l) }},
			{Name: "kind", Label: "Kind", Value: func(l *row, _ names) cell { return text(l.Kind) }},
			{Name: "reference", Label: "Reference", Value: func(l *row, _ names) cell { return text(l.Reference) }},
			{Name: "reason", Label: "Reason", Value: func(l *row, _ names) cell { return text(l.Reason) }},
			{Name: "note", Label: "Note", Value: func(l *row, _ names) cell { return text(l.Note) }},
			{Name: "transaction_id", Label: "Payment", Value: func(l *row, _ names) cell {
				if l.TransactionID == nil {
					return cell{}
				}
				return to("transactions", *l.TransactionID, "Payment")
			}},
			{Name: "source", Label: "Message", Optional: true, Value: func(l *row, _ names) cell { return text(l.Source) }},
			{Name: "gateway", Label: "Gateway", Optional: true, Value: func(l *row, n names) cell { return text(n.of(l.GatewayID)) }},
			{Name: "id", Label: "Id", Optional: true, Value: func(l *row, _ names) cell { return text(l.ID.String()) }},
			{Name: "tenant", Label: "Tenant", Optional: true, Value: func(l *row, n names) cell { return text(n.of(l.TenantID)) }},
		},
		Filters: []filter{
			tenantFilter, {Name: "matched", Label: "Matched", Options: values(yes)}, bankGatewayFilter, fromFilter, toFilter, {Name: "statement_id", Hidden: true},
		},
		Search: func(q *listQuery) source[row] {
			search := listing.BankLineSearch{Common: q.common(), GatewayID: q.id("gateway_id"), StatementID: q.id("statement_id")}
			if matched := chosen(q, "matched", yes); matched != "" {
				isMatched := matched == "true"
				search.Matched = &isMatched
			}
			return sourceOf(d, search, listing.SearchBankLines, listing.CountBankLines)
		},
		Links: []option{bankLinks[0], bankLinks[1], bankLinks[3]},
	}
}

// lineAmount is what a bank has booked, with a sign where it went out.
func lineAmount(l store.BankLine) cell {
	amount := money(l.AmountMinor, l.Currency)
	if !l.IsCredit && l.AmountMinor != 0 {
		amount.Text = "−" + amount.Text
	}
	return amount
}
