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

// helpURL is where the merchant helps: a web address or a mail address.
func (v visit) helpURL() string {
	if address := v.content("help_email"); strings.Count(address, "@") == 1 && !strings.ContainsAny(address, " <>?&\"'") {
		return "mailto:" + address
	}
	address, err := url.Parse(v.content("help_url"))
	if err != nil || address.Scheme != "https" && address.Scheme != "http" || address.Host == "" {
		return ""
	}
	return address.String()
}

// shows tells whether the merchant wants a part of the product shown.
func (v visit) showsName() bool        { return v.Page == nil || v.Page.ShowProductName }
func (v visit) showsPrice() bool       { return v.Page == nil || v.Page.ShowProductPrice }
func (v visit) showsDescription() bool { return v.Page == nil || v.Page.ShowProductDescription }
