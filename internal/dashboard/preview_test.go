package dashboard_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

const (
	standardPage = "019d0000-0000-7000-8000-000000000030"
	rivalPage    = "019d0000-0000-7000-8000-000000000130"
)

func TestHostedPagesAreLookedAt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		cookie := signedIn(t, s, store.Viewer, apptest.Shop)
		show := func(path string, status int) string {
			t.Helper()
			return string(s.Do(t, browse(s, http.MethodGet, path, cookie)).Want(t, status, nil).Raw)
		}
		all := show(shopSetup, http.StatusOK)
		if !strings.Contains(all, "Standard page") || !strings.Contains(all, standardPage) || strings.Contains(all, "Rival page") {
			t.Errorf("of two merchants' pages these are shown:\n%s", all)
		}
		chosen := show("/dashboard/setup/pages/"+standardPage+"/?state=declined&lang=de&width=phone", http.StatusOK)
		frame := "/dashboard/setup/pages/" + standardPage + "/preview/?lang=de&amp;state=declined"
		for _, part := range []string{frame, "<option selected>declined", "<option selected>de", "narrow-frame"} {
			if !strings.Contains(chosen, part) {
				t.Errorf("the screen has no %s:\n%s", part, chosen)
			}
		}
		if in := show("/dashboard/setup/pages/"+standardPage+"/preview/?lang=de&state=declined", http.StatusOK); !strings.Contains(in, `lang="de"`) {
			t.Errorf("the page within is\n%s", in)
		}
		show("/dashboard/setup/pages/"+standardPage+"/preview/?state=nonsense", http.StatusBadRequest)
		for site, takes := range map[string]bool{"": true, "same-origin": true, "same-site": false, "cross-site": false, "none": false} {
			request := browse(s, http.MethodGet, "/dashboard/setup/pages/"+standardPage+"/preview/?name=x&content.headline=Call+us+at+once", cookie)
			request.Header["Sec-Fetch-Site"] = site
			if in := string(s.Do(t, request).Want(t, http.StatusOK, nil).Raw); strings.Contains(in, "Call us at once") != takes {
				t.Errorf("words in a link from %q are shown: %v", site, !takes)
			}
		}
		for _, id := range []string{rivalPage, "nonsense"} {
			show("/dashboard/setup/pages/"+id+"/", http.StatusNotFound)
			show("/dashboard/setup/pages/"+id+"/preview/", http.StatusNotFound)
		}
	})
}

func TestThePreviewIsLive(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	link, err := s.App.People.DeveloperLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := openTab(t, s)
	p.do(chromedp.Navigate(link.URL))
	p.awaitHead("Overview")
	p.do(chromedp.Navigate(s.URL + "/dashboard/setup/pages/" + standardPage + "/"))
	p.awaitHead("Standard page")
	const within = `document.querySelector("iframe").contentDocument`
	p.await(within + `?.documentElement.lang === "en" && ` + within + `.querySelector("form")`)
	p.picture("preview")
	for id, value := range map[string]string{"lang": "de", "state": "paid"} {
		evaluate[bool](p, `(() => {
			const field = document.getElementById("`+id+`");
			field.value = "`+value+`";
			return field.dispatchEvent(new Event("change", { bubbles: true }));
		})()`)
		p.await(`new URL(location).searchParams.get("` + id + `") === "` + value + `"`)
	}
	p.await(within + `?.documentElement.lang === "de" && ` + within + `.body.innerText.includes("Vielen Dank")`)
}

// TestLogosAndColoursArePicked holds what their fields are told.
func TestLogosAndColoursArePicked(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	cookie := signedIn(t, s, store.Administrator)
	for value, want := range map[string]string{
		"#112233": "The button's text is white, with a contrast of 16.", "#ffee00": "the button wears #", "none": "",
	} {
		said := string(s.Do(t, browse(s, http.MethodGet, "/dashboard/setup/colour/?value="+url.QueryEscape(value), cookie)).Want(t, http.StatusOK, nil).Raw)
		if !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("of %s it is said: %s", value, said)
		}
	}
	for _, address := range []string{"", "logo.svg", "file:///etc/passwd", "http://127.0.0.1:1/logo.svg"} {
		s.Do(t, browse(s, http.MethodGet, "/dashboard/setup/logo/?address="+url.QueryEscape(address), cookie)).Want(t, http.StatusNotFound, nil)
	}
	page := string(s.Do(t, browse(s, http.MethodGet, shopSetup+"hosted-pages/"+standardPage+"/", cookie)).Want(t, http.StatusOK, nil).Raw)
	for _, part := range []string{`src="/dashboard/setup/logo/?address=https%3a%2f%2fshop.example%2flogo.svg"`, `data-pick="https://shop.example/logo.svg"`, "with a contrast of"} {
		if !strings.Contains(page, part) {
			t.Errorf("the form has no %s", part)
		}
	}
}
