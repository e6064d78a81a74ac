package recon

import (
	"strings"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// ImportKind is what a file holds.
type ImportKind string

const (
	ImportTransactions ImportKind = "transactions"
	ImportChargebacks  ImportKind = "chargebacks"
)

// ImportKinds lists every kind.
var ImportKinds = []ImportKind{ImportTransactions, ImportChargebacks}

// columnsNeeded are those without which no line of a file can be taken. One of
// several names is written with a bar.
var columnsNeeded = map[ImportKind][]string{
	ImportTransactions: {"merchant_transaction_id", "status", "amount", "currency", "date_processed"},
	ImportChargebacks:  {"merchant_transaction_id|adapter_unique_id|transaction_id", "amount", "currency", "report_date"},
}

// header finds the fields of a record in a file's columns.
type header struct {
	// at is the place of each field of the record, by its name.
	at map[string]int
	// statuses are a processor's own words for ours.
	statuses map[string]payment.TransactionStatus
	// latest is the last instant that a line may name.
	latest time.Time
}

// readHeader names the columns: by the names of the record's fields, or by the
// adapter's own map from its processor's names to those.
func readHeader(fields [][]byte, kind ImportKind, format gateway.ReportFormat) (header, error) {
	own := format.Transactions
	if kind == ImportChargebacks {
		own = format.Chargebacks
	}
	h := header{at: map[string]int{}, statuses: map[string]payment.TransactionStatus{}}
	for i, field := range fields {
		name := decodeText(field)
		if strings.Contains(strings.ReplaceAll(name, "\r\n", ""), "\r") { // all lines would be the first, and none of them taken
			return h, payment.Fields{"file": "The lines of the file end in carriage returns alone. Save it with the line ends of Windows or Unix."}.Err()
		}
		if mapped, ok := own[strings.ToLower(name)]; ok {
			name = mapped
		}
		name = strings.ReplaceAll(strings.ToLower(name), " ", "_")
		if _, twice := h.at[name]; !twice {
			h.at[name] = i
		}
	}
	for _, status := range payment.TransactionStatuses {
		h.statuses[string(status)] = status
	}
	for word, status := range format.Statuses {
		h.statuses[strings.ToLower(word)] = status
	}
	return h, h.check(kind)
}

func (h header) check(kind ImportKind) error {
	var missing []string
	for _, names := range columnsNeeded[kind] {
		found := false
		for name := range strings.SplitSeq(names, "|") {
			_, here := h.at[name]
			found = found || here
		}
		if !found {
			missing = append(missing, strings.ReplaceAll(names, "|", " or "))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return payment.Fields{"file": "The first line names no column " + strings.Join(missing, ", ") + "."}.Err()
}

// line is one record of a file with the names of its columns.
type line struct {
	*header
	fields [][]byte
	number int
	// delimiter is what stands between the fields.
	delimiter byte
}

// appendText writes the line as it stands in the file, its quotes left out.
func (l *line) appendText(dst []byte) []byte {
	for i, field := range l.fields {
		if i > 0 {
			dst = append(dst, l.delimiter)
		}
		dst = append(dst, field...)
	}
	return dst
}

// field gives the bytes of a field, nil where there is no such column or cell.
func (l *line) field(name string) []byte {
	i, here := l.at[name]
	if !here || i >= len(l.fields) {
		return nil
	}
	return l.fields[i]
}
