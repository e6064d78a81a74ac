package api

import (
	"net/url"
	"slices"
	"strings"

	"sepad/internal/checkout"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/web"
)

// Bounds of what a merchant may say of one session (contract 8.2).
const (
	maxAddress            = 2048
	maxProductName        = 255
	maxProductDescription = 2000
	maxMetadata           = 20
	maxMetadataName       = 40
	maxMetadataText       = 500
)

// readOptions reads the optional fields that are additions to contract 2.1.
func (a *API) readOptions(request *checkout.CreateRequest, in *web.Reader, bad payment.Fields) {
	request.TenantReferenceID = payment.Given(in.Text("tenant_reference_id", web.NotBlank, web.MaxLength(maxTenantReference)))
	request.Options = payment.SessionOptions{
		ReturnURL:          a.address(in, "return_url", bad),
		SuccessRedirectURL: a.address(in, "success_redirect_url", bad),
		FailureRedirectURL: a.address(in, "failure_redirect_url", bad),
		ProductName:        in.Text("product_name", web.NotBlank, web.MaxLength(maxProductName)),
		ProductDescription: in.Text("product_description", web.NotBlank, web.MaxLength(maxProductDescription), web.JoinLines),
		Language:           in.Text("language", web.NotBlank),
		Metadata:           payment.NewMetadata(in.Pairs("metadata", maxMetadata, maxMetadataName, maxMetadataText)),
	}
	if language := request.Options.Language; language != "" && !slices.Contains(merchant.Languages, language) {
		bad.Add("language", "language must be one of "+strings.Join(merchant.Languages, ", ")+".")
	}
}

// address reads one to which a payer is sent.
func (a *API) address(in *web.Reader, name string, bad payment.Fields) string {
	text := in.Text(name, web.NotBlank, web.MaxLength(maxAddress))
	if text == "" {
		return ""
	}
	if fault := merchant.AddressFault(text, a.Environment); fault != "" {
		bad.Add(name, fault)
	} else if sent, err := url.Parse(text); err == nil && len(sent.String()) > maxAddress {
		bad.Add(name, "As browsers are sent there, an address has at most 2048 bytes.") // its letters may be several each
	}
	return text
}
