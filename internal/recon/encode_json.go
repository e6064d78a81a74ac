package recon

import "sepad/internal/record"

// writeJSON writes next, previous and the records (contract 4.7).
func writeJSON[T any](out *output, l *Listing[T], page Page[T]) {
	out.text = appendAddressJSON(append(out.text, `{"next":`...), page.Next)
	out.text = appendAddressJSON(append(out.text, `,"previous":`...), page.Previous)
	out.text = append(out.text, `,"results":[`...)
	fields := names(l.Columns, `,"`, `":`)
	fields[0] = fields[0][1:]
	for i := range page.Rows {
		if i > 0 {
			out.text = append(out.text, ',')
		}
		out.text = appendJSONRecord(out.text, l.Columns, fields, &page.Rows[i])
		if !out.pass() {
			return
		}
	}
	out.text = append(out.text, "]}\n"...)
}

// appendJSONRecord is record.Columns.AppendJSON with the names made ready.
func appendJSONRecord[T any](dst []byte, columns record.Columns[T], fields []string, row *T) []byte {
	dst = append(dst, '{')
	for c := range columns {
		dst = columns[c].Value(row).AppendJSON(append(dst, fields[c]...))
	}
	return append(dst, '}')
}

func appendAddressJSON(dst []byte, address string) []byte {
	if address == "" {
		return append(dst, "null"...)
	}
	return record.AppendJSONText(dst, address)
}
