package dashboard

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// TestASetupOfVeryManyPagesIsListedAtOnce: as much as a tenant has room for took minutes of a processor each time that
// somebody looked, as each page had all campaigns put in order.
func TestASetupOfVeryManyPagesIsListedAtOnce(t *testing.T) {
	t.Parallel()
	const many = 10_000
	of := &merchant.Setup{HostedPages: map[uuid.UUID]merchant.HostedPage{}, Campaigns: map[uuid.UUID]merchant.Campaign{}}
	for i := range many {
		page := payment.NewID()
		of.HostedPages[page] = merchant.HostedPage{ID: page, Name: fmt.Sprint("Page ", i)}
		for _, name := range []string{"B", "A"} {
			campaign := payment.NewID()
			of.Campaigns[campaign] = merchant.Campaign{ID: campaign, Name: fmt.Sprint(name, i), HostedPageID: &page}
		}
	}
	kind, _ := kindAt("hosted-pages")
	began := time.Now()
	listed := recordsOf(kind, of, campaignsByPage(of))
	if took := time.Since(began); len(listed) != many || took > 10*time.Second {
		t.Errorf("%d pages are listed after %s", len(listed), took)
	}
	for _, page := range listed {
		var i int
		if _, err := fmt.Sscanf(page.Name, "Page %d", &i); err != nil || page.Facts != fmt.Sprintf("A%d, B%d", i, i) {
			t.Fatalf("%s is shown by %q", page.Name, page.Facts)
		}
	}
}
