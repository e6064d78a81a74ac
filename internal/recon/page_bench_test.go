package recon_test

import (
	"fmt"
	"io"
	"testing"

	"sepad/internal/recon"
	"sepad/internal/store/storetest"
)

// BenchmarkPage reads and writes a page of a thousand records, from the query
// string to the last byte.
func BenchmarkPage(b *testing.B) {
	env := storetest.Postgres(b)
	ledger := openBooks(b, env, 80_000)
	ledger.add(b, 20_000)
	env.Exec(b, "ANALYZE transactions")
	query := fmt.Sprintf("start_date=%s&page_size=1000", walkedDay)
	for _, format := range []recon.Format{recon.JSON, recon.XML, recon.CSV} {
		b.Run(string(format), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page := ledger.read(b, query)
				if err := recon.Transactions.Write(io.Discard, format, page); err != nil || len(page.Rows) != 1000 {
					b.Fatal(err, len(page.Rows))
				}
				page.Release()
			}
		})
	}
}
