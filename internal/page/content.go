package page

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// content reads a text of the merchant's free-form content: a text for all
// languages, or an object with one for each. Whatever else stands there is
// passed over, so that a slip in a resource file costs a text and not the page.
func content(from map[string]any, key, languageCode string) string {
	value := from[key]
	if byLanguage, ok := value.(map[string]any); ok {
		value = byLanguage[languageCode]
	}
	text, _ := value.(string)
	return shorten(strings.TrimSpace(text), maxContent)
}

// maxContent bounds a text by which a merchant could push the form off screen.
const maxContent = 4000

func shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

// content gives a text of the session's page in the payer's language.
func (v visit) content(key string) string {
	if v.Page == nil {
		return ""
	}
	return content(v.Page.Content, key, v.Code)
}

// override gives a text that the campaign shows in place of the offer's.
func (v visit) override(key string) string {
	if v.Campaign == nil {
		return ""
	}
	return content(v.Campaign.OfferOverrides, key, v.Code)
}

// links are the merchant's own pages, as far as they are set.
func (v visit) links() (ways []way) {
	if v.Page == nil {
		return nil
	}
	own := v.Page.Links
	for _, one := range []way{
		{v.Help, v.helpURL()},
		{v.Terms, webAddress(own.Terms)},
		{v.Privacy, webAddress(own.Privacy)},
		{v.Imprint, webAddress(own.Imprint)},
	} {
		if one.Address != "" {
			ways = append(ways, one)
		}
	}
	return ways
}

// helpURL is where the merchant helps: a mail address or a web address.
func (v visit) helpURL() string {
	if address := v.content("help_email"); strings.Count(address, "@") == 1 && !strings.ContainsAny(address, " <>?&\"'") {
		return "mailto:" + address
	}
	address := v.content("help_url")
	return webAddress(&address)
}

// webAddress is an address that a browser can be sent to, "" for any other.
func webAddress(text *string) string {
	if text == nil {
		return ""
	}
	address, err := url.Parse(*text)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Host == "" {
		return ""
	}
	return address.String()
}

// trust is who collects, under which identifier, and that nobody listens.
func (v visit) trust(publicURL string) (parts []string) {
	if strings.HasPrefix(publicURL, "https:") {
		parts = append(parts, v.Encrypted)
	}
	parts = append(parts, fill(v.CollectedBy, "creditor", v.creditor()))
	if id := v.Tenant.Creditor.Identifier; id != "" {
		parts = append(parts, v.Identifier+" "+id)
	}
	return parts
}

// shows tells whether the merchant wants a part of the product shown.
func (v visit) showsName() bool        { return v.Page == nil || v.Page.ShowProductName }
func (v visit) showsPrice() bool       { return v.Page == nil || v.Page.ShowProductPrice }
func (v visit) showsDescription() bool { return v.Page == nil || v.Page.ShowProductDescription }
