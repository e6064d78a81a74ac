package page

import (
	"encoding/base64"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/merchant"
)

func TestLogos(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "image/svg+xml; charset=utf-8")
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html")
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/huge":
			_, _ = w.Write([]byte(strings.Repeat("x", maxLogo)))
		}
		_, _ = w.Write([]byte("<svg/>"))
	}))
	t.Cleanup(host.Close)
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	logos := NewLogos(true)

	good := logos.get(t.Context(), "", host.URL+"/logo", now)
	if string(good.picture) != "<svg/>" || good.contentType != "image/svg+xml" {
		t.Errorf("got %q as %s", good.picture, good.contentType)
	}
	for _, path := range []string{"/page", "/missing", "/huge"} {
		if got := logos.get(t.Context(), "", host.URL+path, now); got.picture != nil {
			t.Errorf("%s was taken for a picture", path)
		}
	}
	before := asked.Load()
	logos.get(t.Context(), "", host.URL+"/logo", now.Add(logoFresh-1))
	logos.get(t.Context(), "", host.URL+"/missing", now.Add(logoFailed-1))
	if asked.Load() != before {
		t.Error("what is fresh was asked for again")
	}
	logos.get(t.Context(), "", host.URL+"/logo", now.Add(logoFresh))
	if asked.Load() != before+1 {
		t.Error("what is old was not asked for again")
	}
	host.Close()
	if kept := logos.get(t.Context(), "", host.URL+"/logo", now.Add(3*logoFresh)); string(kept.picture) != "<svg/>" {
		t.Error("a host that is away takes the logo away")
	}
}

func TestWhereLogosLead(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, isLast := strings.CutPrefix(r.URL.Path, "/x"); isLast {
			http.Redirect(w, r, rest, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte("<svg/>"))
	}))
	t.Cleanup(plain.Close)
	guarded := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+"/logo", http.StatusFound)
	}))
	t.Cleanup(guarded.Close)
	for name, test := range map[string]struct {
		address string
		isShown bool
	}{
		"a few times to another place":      {plain.URL + "/x/x/x/logo", true},
		"not for ever":                      {plain.URL + "/x/x/x/x/logo", false},
		"not from https to an open network": {guarded.URL, false},
	} {
		t.Run(name, func(t *testing.T) {
			logos := NewLogos(true)
			trusted := guarded.Client().Transport.(*http.Transport).TLSClientConfig
			logos.client.Transport.(*http.Transport).TLSClientConfig = trusted
			if got := logos.get(t.Context(), "", test.address, time.Unix(1, 0)); (got.picture != nil) != test.isShown {
				t.Errorf("it was shown: %t", got.picture != nil)
			}
		})
	}
}

// TestLogosOfManyHosts has merchants name as many hosts as they like: nothing of them stays but pictures, and not too many of these.
func TestLogosOfManyHosts(t *testing.T) {
	t.Parallel()
	var asked, staying atomic.Int32
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if !r.Close {
			staying.Add(1) // the connection is kept, and nobody would ever close it
		}
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(make([]byte, maxLogo))
	}))
	t.Cleanup(host.Close)
	logos, now := NewLogos(true), time.Unix(1, 0)
	for i := range 2*maxKept/maxLogo + 1 {
		if logos.get(t.Context(), "", host.URL+"/"+strconv.Itoa(i), now).picture == nil {
			t.Fatal("no picture came")
		}
		kept := 0
		for _, one := range logos.kept {
			kept += len(one.picture)
		}
		if kept > maxKept || kept != logos.size {
			t.Fatalf("%d bytes are kept, counted as %d", kept, logos.size)
		}
	}
	if staying.Load() > 0 {
		t.Errorf("%d of %d askers would have used the connection again", staying.Load(), asked.Load())
	}
}

// hangingHost answers with a picture once it is let.
type hangingHost struct {
	asked atomic.Int32
	let   chan struct{}
}

func (h *hangingHost) RoundTrip(*http.Request) (*http.Response, error) {
	h.asked.Add(1)
	<-h.let
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"image/svg+xml"}}, Body: io.NopCloser(strings.NewReader("<svg/>")),
	}, nil
}

// TestALogoIsAskedForOnce has many payers ask for a picture whose host takes its time.
func TestALogoIsAskedForOnce(t *testing.T) {
	t.Parallel()
	const payers = 20
	synctest.Test(t, func(t *testing.T) {
		host, logos := &hangingHost{let: make(chan struct{})}, NewLogos(true)
		logos.client.Transport = host
		var shown atomic.Int32
		for range payers {
			go func() {
				if logos.get(t.Context(), "", "https://shop.example/logo", time.Unix(1, 0)).picture != nil {
					shown.Add(1)
				}
			}()
		}
		synctest.Wait()
		close(host.let)
		synctest.Wait()
		if asked := host.asked.Load(); asked != 1 || shown.Load() != payers {
			t.Errorf("it was asked for %d times, and shown to %d", asked, shown.Load())
		}
	})
}

// TestVeryManyLogosOfAMerchantWaitForEachOther has payers see a thousand pages of one merchant, whose host says nothing, and then
// one page of another.
func TestVeryManyLogosOfAMerchantWaitForEachOther(t *testing.T) {
	t.Parallel()
	const pages = 1000
	synctest.Test(t, func(t *testing.T) {
		host, logos := &hangingHost{let: make(chan struct{})}, NewLogos(true)
		logos.client.Transport = host
		for i := range pages {
			go logos.soon(t.Context(), "many", "https://many.example/"+strconv.Itoa(i), time.Unix(1, 0))
		}
		synctest.Wait()
		if asked := host.asked.Load(); asked != logosAtOnce {
			t.Errorf("%d logos of one merchant are fetched at once", asked)
		}
		go logos.soon(t.Context(), "another", "https://another.example/", time.Unix(1, 0))
		synctest.Wait()
		if asked := host.asked.Load(); asked != logosAtOnce+1 {
			t.Errorf("another merchant's waits for them: %d are fetched", asked)
		}
		<-time.After(logoPatience)
		synctest.Wait()
		close(host.let)
		synctest.Wait()
		if asked := host.asked.Load(); asked != logosAtOnce+1 || len(logos.kept) != logosAtOnce+1 {
			t.Errorf("nobody waits any more, and %d were fetched and %d are kept", asked, len(logos.kept))
		}
		if logos.get(t.Context(), "many", "https://many.example/"+strconv.Itoa(pages), time.Unix(1, 0)).picture == nil {
			t.Error("the next payer sees none either")
		}
	})
}

// TestLogosMakeRoomForTheirOwn has one merchant name more logos than are kept.
func TestLogosMakeRoomForTheirOwn(t *testing.T) {
	t.Parallel()
	logos := NewLogos(true)
	logos.keep("another's", logo{whose: "another", picture: make([]byte, 1)})
	for i := range 3 * maxLogos {
		logos.keep(strconv.Itoa(i), logo{whose: "many"})
	}
	for i := range 2 * maxKept / maxLogo {
		logos.keep("large "+strconv.Itoa(i), logo{whose: "many", picture: make([]byte, maxLogo)})
	}
	if logos.kept["another's"].picture == nil || len(logos.kept) > maxLogos || logos.size > maxKept {
		t.Errorf("%d of %d bytes are kept, and the other merchant's is there: %t", len(logos.kept), logos.size, logos.kept["another's"].picture != nil)
	}
	for i := range 2 * maxLogos {
		logos.keep(strconv.Itoa(i), logo{whose: strconv.Itoa(i)})
	}
	if len(logos.kept) > maxLogos {
		t.Errorf("%d are kept of as many merchants", len(logos.kept))
	}
}

// slowPictures are of a kind whose unpacking waits until it is let.
type slowPictures struct {
	let            chan struct{}
	unpacked, most atomic.Int32
}

func (s *slowPictures) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"image/png"}}, Body: io.NopCloser(strings.NewReader("SLOW")),
	}, nil
}

func (s *slowPictures) unpack(io.Reader) (image.Image, error) {
	s.most.Store(max(s.most.Load(), s.unpacked.Add(1)))
	<-s.let
	s.unpacked.Add(-1)
	return image.NewGray(image.Rect(0, 0, 1, 1)), nil
}

// TestOnePictureIsLookedAtAtATime has a merchant name many pictures that take long to unpack.
func TestOnePictureIsLookedAtAtATime(t *testing.T) {
	t.Parallel()
	const pictures = 20
	synctest.Test(t, func(t *testing.T) {
		slow, logos := &slowPictures{let: make(chan struct{})}, NewLogos(true)
		image.RegisterFormat("slow", "SLOW", slow.unpack, func(io.Reader) (image.Config, error) { return image.Config{Width: 1, Height: 1}, nil })
		logos.client.Transport = slow
		var shown atomic.Int32
		for i := range pictures {
			go func() {
				if logos.get(t.Context(), strconv.Itoa(i), "https://shop.example/"+strconv.Itoa(i), time.Unix(1, 0)).picture != nil {
					shown.Add(1)
				}
			}()
		}
		synctest.Wait()
		if most := slow.most.Load(); most != 1 || shown.Load() != 0 {
			t.Errorf("%d were unpacked at once, and %d are shown", most, shown.Load())
		}
		<-time.After(lookPatience)
		synctest.Wait()
		if shown.Load() != pictures-1 {
			t.Errorf("%d are shown that waited for long, not %d", shown.Load(), pictures-1)
		}
		close(slow.let)
		synctest.Wait()
		if most := slow.most.Load(); most != 1 || shown.Load() != pictures {
			t.Errorf("%d were unpacked at once, and %d are shown", most, shown.Load())
		}
	})
}

func TestProductionCallsNoPrivateNetwork(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	host := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(host.Close)
	if got := NewLogos(false).get(t.Context(), "", host.URL+"/logo", time.Unix(1, 0)); got.picture != nil || asked.Load() != 0 {
		t.Error("the loopback was called")
	}
}

func TestTestAccountsStayInTheSandbox(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		environment                 merchant.Environment
		adapter                     string
		testMode, offered, saysTest bool
	}{
		{merchant.Sandbox, "sandbox", true, true, true}, {merchant.Sandbox, "sandbox", false, true, true},
		{merchant.Sandbox, "acme", true, false, true}, {merchant.Sandbox, "acme", false, false, false},
		{merchant.Production, "sandbox", true, false, true}, {merchant.Production, "acme", true, false, true},
		{merchant.Production, "acme", false, false, false},
	} {
		p := &Page{Checkout: &checkout.Checkout{Environment: one.environment}}
		v := visit{View: checkout.View{Gateway: merchant.GatewayAccount{Adapter: one.adapter, TestMode: one.testMode}}}
		if says := p.movesNothing(v); says != one.saysTest {
			t.Errorf("%s with %s, test mode %v: says so is %v", one.environment, one.adapter, one.testMode, says)
		}
		if offered := p.testIBANs(v) != nil; offered != one.offered {
			t.Errorf("%s with %s: offered is %v", one.environment, one.adapter, offered)
		}
	}
}

func TestADarkScreenHasALogoOfItsOwn(t *testing.T) {
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(`<svg viewBox="0 0 200 40" id="` + r.URL.Path[1:] + `"/>`))
	}))
	t.Cleanup(host.Close)
	day, night := host.URL+"/day", host.URL+"/night"
	p := &Page{Logos: NewLogos(true), Real: clock.Real{}}
	v := visit{View: checkout.View{Page: &merchant.HostedPage{Branding: merchant.Branding{LogoURL: &day, LogoDarkURL: &night}}}}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	inline := func(name string) string {
		return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(`<svg viewBox="0 0 200 40" id="`+name+`"/>`))
	}
	if got := p.logoOf(r, v); string(got.Address) != inline("day") || string(got.Dark) != inline("night") || got.Plate != "" {
		t.Errorf("a preview shows %+v", got)
	}
	v.Session.ID, v.Session.Token = uuid.New(), "ps_x"
	if got := p.logoOf(r, v); got.Address != "/pay/ps_x/logo/" || got.Dark != "/pay/ps_x/logo/?dark" || got.Plate != "" {
		t.Errorf("a session shows %+v", got)
	}
}
