package people

import (
	"bytes"
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hostileProvider is an OpenID provider, or somebody in its place, that says whatever a
// test wants.
type hostileProvider struct {
	*httptest.Server
	key *rsa.PrivateKey
	// nonce is the one of the sign-in that was begun last.
	nonce string
	// proof makes the proof of the claims, signed is one that is as it should be.
	proof func(claims map[string]any) string
	// claims change those of the proof; info is what is told when asked.
	claims func(map[string]any)
	info   any
	// answers take the place of an address.
	answers map[string]http.HandlerFunc
	asked   atomic.Int64
}

var proven = time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)

// still is the instant of all proofs.
type still struct{}

func (still) Now() time.Time { return proven }

func newHostileProvider(t *testing.T) *hostileProvider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	h := &hostileProvider{key: key, claims: func(map[string]any) {}, answers: map[string]http.HandlerFunc{}}
	h.proof = func(claims map[string]any) string { return h.signed("RS256", "here", claims, h.rsa(key)) }
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *hostileProvider) serve(w http.ResponseWriter, r *http.Request) {
	h.asked.Add(1)
	if answer, isSet := h.answers[r.URL.Path]; isSet {
		answer(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	say := func(body any) { _ = json.NewEncoder(w).Encode(body) }
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		say(map[string]any{
			"issuer": h.URL, "authorization_endpoint": h.URL + "/auth", "token_endpoint": h.URL + "/token", "jwks_uri": h.URL + "/keys",
			"userinfo_endpoint": h.URL + "/me", "id_token_signing_alg_values_supported": []string{"none", "HS256", "RS256"},
		})
	case "/keys":
		say(map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "kid": "here", "alg": "RS256", "use": "sig", "n": text64(h.key.N.Bytes()), "e": text64(big.NewInt(int64(h.key.E)).Bytes()),
		}}})
	case "/token":
		claims := map[string]any{
			"iss": h.URL, "aud": "counter", "sub": "ada", "nonce": h.nonce, "exp": proven.Add(time.Minute).Unix(), "iat": proven.Unix(),
			"email": "ada@office.example", "email_verified": true, "role": "viewer", "tenants": []string{"Bergladen"},
		}
		h.claims(claims)
		say(map[string]any{"access_token": "open", "token_type": "Bearer", "id_token": h.proof(claims)})
	case "/me":
		say(h.info)
	}
}

func text64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// signed is a proof by an algorithm and a key of whatever name.
func (h *hostileProvider) signed(algorithm, key string, claims map[string]any, sign func(digest [32]byte, text string) []byte) string {
	head, _ := json.Marshal(map[string]string{"alg": algorithm, "kid": key, "typ": "JWT"})
	body, _ := json.Marshal(claims)
	text := text64(head) + "." + text64(body)
	return text + "." + text64(sign(sha256.Sum256([]byte(text)), text))
}

func (h *hostileProvider) rsa(key *rsa.PrivateKey) func([32]byte, string) []byte {
	return func(digest [32]byte, _ string) []byte {
		signature, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
		return signature
	}
}

func mac(secret []byte) func([32]byte, string) []byte {
	return func(_ [32]byte, text string) []byte {
		sum := hmac.New(sha256.New, secret)
		sum.Write([]byte(text))
		return sum.Sum(nil)
	}
}

const clientSecret = "a secret of the counter"

func (h *hostileProvider) client() *Provider {
	return &Provider{
		Issuer: h.URL, ClientID: "counter", ClientSecret: clientSecret, RoleClaim: "role", TenantsClaim: "tenants",
		URL: "https://dashboard.example", Clock: still{},
	}
}

// signIn goes there and back.
func (h *hostileProvider) signIn(ctx context.Context, p *Provider) (Vouched, error) {
	address, errand, err := p.Begin("/dashboard/")
	if err != nil {
		return Vouched{}, err
	}
	sent, err := url.Parse(address)
	if err != nil {
		return Vouched{}, err
	}
	h.nonce = sent.Query().Get("nonce")
	return p.Finish(ctx, errand, errand.State, "a code")
}

// TestAProofThatIsNone has somebody in the provider's place, or a merchant who can have it
// sign things, prove what is not so.
func TestAProofThatIsNone(t *testing.T) {
	t.Parallel()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range []struct {
		name   string
		change func(h *hostileProvider)
	}{
		{"without a signature", func(h *hostileProvider) {
			h.proof = func(claims map[string]any) string {
				return h.signed("none", "here", claims, func([32]byte, string) []byte { return nil })
			}
		}},
		{"signed with the public key as a secret", func(h *hostileProvider) {
			public, _ := x509.MarshalPKIXPublicKey(&h.key.PublicKey)
			secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
			h.proof = func(claims map[string]any) string { return h.signed("HS256", "here", claims, mac(secret)) }
		}},
		{"signed with the client's secret", func(h *hostileProvider) {
			h.proof = func(claims map[string]any) string {
				return h.signed("HS256", "here", claims, mac([]byte(clientSecret)))
			}
		}},
		{"of another key under the name of the right one", func(h *hostileProvider) {
			h.proof = func(claims map[string]any) string { return h.signed("RS256", "here", claims, h.rsa(other)) }
		}},
		{"of a key that the provider does not have", func(h *hostileProvider) {
			h.proof = func(claims map[string]any) string { return h.signed("RS256", "gone", claims, h.rsa(other)) }
		}},
		{"changed after it was signed", func(h *hostileProvider) {
			h.proof = func(claims map[string]any) string {
				head, rest, _ := strings.Cut(h.signed("RS256", "here", claims, h.rsa(h.key)), ".")
				_, signature, _ := strings.Cut(rest, ".")
				claims["role"] = "admin"
				body, _ := json.Marshal(claims)
				return head + "." + text64(body) + "." + signature
			}
		}},
		{"whose time is over", func(h *hostileProvider) { h.claims = set("exp", proven.Add(-time.Second).Unix()) }},
		{"without an end", func(h *hostileProvider) { h.claims = set("exp", nil) }},
		{"for somebody else's application", func(h *hostileProvider) { h.claims = set("aud", "another") }},
		{"that somebody else's application was given", func(h *hostileProvider) { h.claims = set("azp", "another") }},
		{"of another provider", func(h *hostileProvider) { h.claims = set("iss", "https://login.example") }},
		{"for another sign-in", func(h *hostileProvider) { h.claims = set("nonce", "of yesterday") }},
		{"of nobody", func(h *hostileProvider) { h.claims = set("sub", "") }},
		{"of somebody whose name no database takes", func(h *hostileProvider) { h.claims = set("sub", "a\x00da") }},
		{"of somebody whose name does not end", func(h *hostileProvider) { h.claims = set("sub", strings.Repeat("a", 256)) }},
		{"for no sign-in", func(h *hostileProvider) { h.claims = set("nonce", nil) }},
		{"that is no text", func(h *hostileProvider) { h.proof = func(map[string]any) string { return "" } }},
		{"with words about somebody else", func(h *hostileProvider) {
			h.claims = set("role", nil)
			h.info = map[string]any{"sub": "eve", "role": "admin"}
		}},
	} {
		t.Run("a proof "+example.name+" lets nobody in", func(t *testing.T) {
			t.Parallel()
			h := newHostileProvider(t)
			p := h.client()
			if _, err := h.signIn(t.Context(), p); err != nil {
				t.Fatalf("as it should be: %v", err)
			}
			example.change(h)
			if v, err := h.signIn(t.Context(), p); !isProviderError(err) {
				t.Errorf("it vouches for %v, %v", v.role(), err)
			}
		})
	}
}

func isProviderError(err error) bool { _, is := errors.AsType[*ProviderError](err); return is }

// set changes a claim, nil takes it away.
func set(name string, value any) func(map[string]any) {
	return func(claims map[string]any) {
		delete(claims, name)
		if value != nil {
			claims[name] = value
		}
	}
}

// TestClaimsThatAreToldApart has a provider say in the proof one part, and the other when it is asked.
func TestClaimsThatAreToldApart(t *testing.T) {
	t.Parallel()
	for _, example := range []struct {
		name        string
		inProof     map[string]any
		info        map[string]any
		role, claim string
		want        Vouched
	}{
		{
			"who is bound to tenants only there is bound",
			map[string]any{"role": "finance"}, map[string]any{"tenants": []string{"Bergladen"}}, "role", "tenants",
			Vouched{Roles: []string{"finance"}, Tenants: []string{"Bergladen"}, HasTenants: true},
		},
		{
			"also where both are parts of one claim",
			map[string]any{"shop": map[string]any{"role": "finance"}}, map[string]any{"shop": map[string]any{"role": "admin", "tenants": "Bergladen"}}, "shop.role", "shop.tenants",
			Vouched{Roles: []string{"finance"}, Tenants: []string{"Bergladen"}, HasTenants: true},
		},
		{
			"what the proof says holds",
			map[string]any{"role": "viewer", "tenants": []string{}}, map[string]any{"role": "admin", "tenants": "*"}, "role", "tenants",
			Vouched{Roles: []string{"viewer"}, HasTenants: true},
		},
		{
			"another address that is confirmed confirms none",
			map[string]any{"role": "viewer", "email": "boss@office.example", "email_verified": nil},
			map[string]any{"email": "ada@office.example", "email_verified": true}, "role", "tenants",
			Vouched{Roles: []string{"viewer"}, Email: "boss@office.example"},
		},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			h := newHostileProvider(t)
			h.claims = func(claims map[string]any) {
				for _, name := range []string{"role", "tenants"} {
					delete(claims, name)
				}
				maps.Copy(claims, example.inProof)
				maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
			}
			example.info["sub"] = "ada"
			h.info = example.info
			p := h.client()
			p.RoleClaim, p.TenantsClaim = example.role, example.claim
			v, err := h.signIn(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(v.Roles, example.want.Roles) || !slices.Equal(v.Tenants, example.want.Tenants) || v.HasTenants != example.want.HasTenants {
				t.Errorf("roles %v, tenants %v, told %t", v.Roles, v.Tenants, v.HasTenants)
			}
			if example.want.Email != "" && (v.Email != example.want.Email || v.IsVerified) {
				t.Errorf("the address %s is confirmed: %t", v.Email, v.IsVerified)
			}
		})
	}
}

// TestHowStronglyAProviderMadeSure asks for a strength, and takes the word of the proof alone.
func TestHowStronglyAProviderMadeSure(t *testing.T) {
	t.Parallel()
	h := newHostileProvider(t)
	h.info = map[string]any{"sub": "ada", "acr": "phr"}
	p := h.client()
	p.ACR = []string{"phr", "mfa"}
	address, _, err := p.Begin("")
	if err != nil {
		t.Fatal(err)
	}
	if sent, _ := url.Parse(address); sent.Query().Get("acr_values") != "phr mfa" {
		t.Errorf("it is asked for at %s", address)
	}
	for strength, want := range map[any]error{"phr": nil, "mfa": nil, "pwd": errTooWeak, "": errTooWeak, nil: errTooWeak, 1: errTooWeak} {
		h.claims = func(claims map[string]any) {
			set("acr", strength)(claims)
			delete(claims, "role") // so that it is asked for more
		}
		if _, err := h.signIn(t.Context(), p); !errors.Is(err, want) {
			t.Errorf("%v: %v", strength, err)
		}
	}
}

// TestWhenAProviderMadeSure asks it to make sure anew of whom it remembers, and takes the word of the proof alone.
func TestWhenAProviderMadeSure(t *testing.T) {
	t.Parallel()
	h := newHostileProvider(t)
	h.info = map[string]any{"sub": "ada", "auth_time": proven.Unix()}
	p := h.client()
	address, _, err := p.Begin("")
	if err != nil {
		t.Fatal(err)
	}
	if sent, _ := url.Parse(address); sent.Query().Get("max_age") != "900" {
		t.Errorf("it is asked for at %s", address)
	}
	for told, want := range map[any]time.Time{
		proven.Unix(): proven, 1.5: time.Unix(1, 0), -1e300: time.Unix(0, 0), 1e300: time.Unix(1<<40, 0), nil: {}, "now": {}, true: {},
		strconv.FormatInt(proven.Unix(), 10): proven, "-1": time.Unix(0, 0),
	} {
		h.claims = func(claims map[string]any) {
			set("auth_time", told)(claims)
			delete(claims, "role") // so that it is asked for more
		}
		if v, err := h.signIn(t.Context(), p); err != nil || !v.At.Equal(want) {
			t.Errorf("%v is %v, %v", told, v.At, err)
		}
	}
}

// TestAProviderThatNeverStops answers for as long as somebody listens, at each address.
func TestAProviderThatNeverStops(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/.well-known/openid-configuration", "/keys", "/token", "/me"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			h := newHostileProvider(t)
			var sent atomic.Int64
			const enough = 64 << 20
			h.answers[path] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				part := `{"` + strings.Repeat("a", 1<<16)
				for sent.Load() < enough {
					n, err := io.WriteString(w, part)
					if err != nil {
						return
					}
					sent.Add(int64(n))
				}
			}
			h.claims = set("role", nil)
			if _, err := h.signIn(t.Context(), h.client()); !isProviderError(err) {
				t.Errorf("it is believed: %v", err)
			}
			if sent.Load() >= enough {
				t.Errorf("%d MB were read", sent.Load()>>20)
			}
		})
	}
}

// TestAKeyWithoutMeasure: a key of a million bits took a processor minutes for one proof, which nobody could break off. How long the
// proof's own signature is says nothing of it.
func TestAKeyWithoutMeasure(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key, signature int
		isLookedAt     bool
	}{{256, 256, true}, {2048, 2048, true}, {2049, 2049, false}, {4096, 4096, false}, {500_000, 256, false}, {256, 500_000, true}} {
		h := newHostileProvider(t)
		modulus := bytes.Repeat([]byte{0xff}, test.key)
		h.answers["/keys"] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "here", "alg": "RS256", "use": "sig", "n": text64(modulus), "e": "AQAB"}}})
		}
		h.proof = func(claims map[string]any) string {
			return h.signed("RS256", "here", claims, func([32]byte, string) []byte { return make([]byte, test.signature) })
		}
		_, err := h.signIn(t.Context(), h.client())
		if !isProviderError(err) || strings.Contains(err.Error(), errLargeKey.Error()) == test.isLookedAt {
			t.Errorf("a key of %d bytes, a signature of %d: %v", test.key, test.signature, err)
		}
	}
}

// TestAProviderThatHangs keeps everybody who comes for as long as the first, and not one after the other.
func TestAProviderThatHangs(t *testing.T) {
	t.Parallel()
	const people = 40
	h := newHostileProvider(t)
	come, leave := make(chan struct{}, people), make(chan struct{})
	h.answers["/.well-known/openid-configuration"] = func(w http.ResponseWriter, _ *http.Request) {
		come <- struct{}{}
		<-leave
		w.WriteHeader(http.StatusBadGateway)
	}
	p := h.client()
	var all sync.WaitGroup
	ask := func() {
		if _, _, err := p.Begin(""); !isProviderError(err) {
			t.Errorf("it is believed: %v", err)
		}
	}
	all.Go(ask)
	<-come
	var waiting sync.WaitGroup
	for range people - 1 {
		waiting.Add(1)
		all.Go(func() { waiting.Done(); ask() })
	}
	waiting.Wait()
	close(leave)
	all.Wait()
	// Some may have come after the answer, and asked again.
	if asked := h.asked.Load(); asked > people/2 {
		t.Errorf("it was asked %d times by %d people", asked, people)
	}
}

// moving is a clock that a test moves.
type moving struct{ at time.Time }

func (m *moving) Now() time.Time { return m.at }

// TestAKeyThatAProviderWithdrawsIsForgotten: whoever has stolen it is believed for an hour at most, also where nobody has come
// by the next one meanwhile.
func TestAKeyThatAProviderWithdrawsIsForgotten(t *testing.T) {
	t.Parallel()
	h, clock := newHostileProvider(t), &moving{proven}
	h.claims = set("exp", proven.Add(2*knownFor).Unix())
	p := h.client()
	p.Clock = clock
	if _, err := h.signIn(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	next, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	h.key = next // the proof is still made with the old one
	clock.at = proven.Add(knownFor)
	if _, err := h.signIn(t.Context(), p); err == nil {
		t.Error("somebody came in with a key that was withdrawn an hour ago")
	}
}

// TestAProviderThatLeadsElsewhere has each of its addresses lead to another one, as after a
// mistake in its set-up: what is said there is heard by nobody, and our secret stays.
func TestAProviderThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"/.well-known/openid-configuration", "/token", "/keys", "/me"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			h := newHostileProvider(t)
			h.claims = func(c map[string]any) { delete(c, "tenants") }
			h.info = map[string]any{"sub": "ada", "tenants": "Bergladen"}
			elsewhere := newHostileProvider(t)
			h.answers[address] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL+address, http.StatusTemporaryRedirect)
			}
			if _, err := h.signIn(t.Context(), h.client()); !isProviderError(err) {
				t.Errorf("the answer is %v", err)
			}
			if asked := elsewhere.asked.Load(); asked > 0 {
				t.Errorf("%d requests went elsewhere", asked)
			}
		})
	}
}
