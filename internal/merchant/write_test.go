package merchant

import (
	"testing"

	"github.com/google/uuid"
)

// TestAWrittenFileIsRead: names that YAML takes for something of its own, and texts whose
// lines begin with blanks, were written so that the file was refused.
func TestAWrittenFileIsRead(t *testing.T) {
	t.Parallel()
	rules, id, pageID := Rules{Environment: Sandbox}, uuid.MustParse("018f0000-0000-7000-8000-000000000101"), uuid.MustParse("018f0000-0000-7000-8000-000000000131")
	for _, text := range []string{"<<", "\t\ntwo", " \ntwo", "two\n\tthree", "one\n two", "a\u2028# b", "\r\n", "# no", "- x: {y"} {
		tenant, err := rules.ReadTenant(Fields{"id": id.String(), "name": "<<"})
		if err != nil {
			t.Fatal(err)
		}
		of := NewSetup(tenant)
		page, err := rules.ReadHostedPage(Fields{"id": pageID.String(), "name": "Page", "content": map[string]any{text: text}})
		if err != nil {
			t.Fatal(err)
		}
		of.HostedPages[pageID] = page
		written, err := WriteFile(of, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		file, err := rules.ParseFile("shop.yaml", written)
		if err != nil || file.Tenants[0].Tenant.Name != "<<" || file.Tenants[0].HostedPages[0].Record.Content[text] != text {
			t.Errorf("%q: %v\n%s", text, err, written)
		}
	}
}
