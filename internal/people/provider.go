package people

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

const (
	// providerPatience is how long an OpenID provider may take to answer.
	providerPatience = 10 * time.Second
	// knownFor is how long it is believed what a provider has said of itself: a key that it
	// withdraws is good no longer than that.
	knownFor = time.Hour
	// largestAnswer is more than any provider says at a time: its words are held in memory.
	largestAnswer = 1 << 20
	// longestKey is the text of an RSA key of 16,384 bits. One of a million bits, for which an answer has
	// room, keeps a processor for minutes, whatever it has signed.
	longestKey = 16_384/6 + 1
)

// ProviderPath is where a provider sends people back to.
const ProviderPath = "/dashboard/sign-in/oidc/callback/"

// Provider is an OpenID provider that vouches for operators. It is asked for its addresses and keys
// when the first of them comes, so that one that is away keeps nobody but them out, and again every hour.
type Provider struct {
	Issuer       string
	ClientID     string
	ClientSecret merchant.Secret
	// RoleClaim and TenantsClaim are where it tells what somebody may do, and for whom.
	RoleClaim, TenantsClaim string
	// ACR are how strongly it must have made sure of somebody, any of them; none where it
	// decides alone.
	ACR []string
	// URL is where the dashboard is reached, without a slash at its end.
	URL   string
	Clock clock.Clock

	// finding has one who asks it who it is, however many people come meanwhile.
	finding singleflight.Group
	mu      sync.Mutex
	known   *oidc.Provider
	foundAt time.Time
}

// ProviderError is the answer when a provider cannot be asked, or says what it should not.
type ProviderError struct{ Cause error }

func (e *ProviderError) Error() string { return "the OpenID provider: " + e.Cause.Error() }
func (e *ProviderError) Unwrap() error { return e.Cause }

// Errand is what a browser keeps while it is at the provider: nobody else can come back
// in its place.
type Errand struct {
	State, Nonce, Verifier string
	// Next is where to go afterwards.
	Next string
}

// Expects refuses an answer that this browser was not sent for. The provider is not asked about one, and nothing is learned from it.
func (e Errand) Expects(state string) error {
	if e.State == "" || subtle.ConstantTimeCompare([]byte(e.State), []byte(state)) != 1 {
		return errStrayAnswer
	}
	return nil
}

// asking is a context in which the provider is asked, and not for ever. Where it leads elsewhere nobody
// follows: our secret and its keys would go by whatever address that is.
func asking(ctx context.Context) context.Context {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return oidc.ClientContext(ctx, &http.Client{Timeout: providerPatience, Transport: bounded{http.DefaultTransport}, CheckRedirect: stay})
}

var (
	errSwitched = errors.New("people: the provider answered 101, and nothing but HTTP is spoken")
	errLargeKey = errors.New("people: the provider has a larger key than anybody needs")
)

// bounded refuses answers that are larger than any sense, or have keys that are.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusSwitchingProtocols { // its body would have no end, whatever time the client has
		return nil, errors.Join(errSwitched, answer.Body.Close())
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, answer.Body, largestAnswer))
	if err = cmp.Or(err, answer.Body.Close(), checkKeys(body)); err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

func checkKeys(answer []byte) error {
	var of struct {
		Keys []struct {
			Modulus string `json:"n"`
		} `json:"keys"`
	}
	_ = json.Unmarshal(answer, &of) // what is wrong with it is told by whoever needs it
	for _, key := range of.Keys {
		if len(key.Modulus) > longestKey {
			return errLargeKey
		}
	}
	return nil
}

// find asks the provider who it is, unless it has just said so. Whoever comes while one that
// hangs is asked waits with the first, and not after it.
func (p *Provider) find() (*oidc.Provider, error) {
	now := p.Clock.Now()
	p.mu.Lock()
	known, foundAt := p.known, p.foundAt
	p.mu.Unlock()
	if known != nil && now.Sub(foundAt) < knownFor {
		return known, nil
	}
	found, err, _ := p.finding.Do("", func() (any, error) {
		// What is found is used for long: it must not end with the call that has asked.
		found, err := oidc.NewProvider(asking(context.Background()), p.Issuer)
		if err != nil {
			return nil, &ProviderError{err}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.known, p.foundAt = found, now
		return found, nil
	})
	if err != nil {
		return nil, err
	}
	return found.(*oidc.Provider), nil
}

func (p *Provider) client(known *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret.Reveal(), Endpoint: known.Endpoint(), RedirectURL: p.URL + ProviderPath,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// Begin is where a browser is sent, and what it keeps meanwhile.
func (p *Provider) Begin(next string) (address string, errand Errand, err error) {
	known, err := p.find()
	if err != nil {
		return "", errand, err
	}
	errand = Errand{State: newSecret(), Nonce: newSecret(), Verifier: oauth2.GenerateVerifier(), Next: next}
	options := []oauth2.AuthCodeOption{
		oidc.Nonce(errand.Nonce), oauth2.S256ChallengeOption(errand.Verifier),
		// Whom it made sure of longer ago it asks again, and says when that was.
		oauth2.SetAuthURLParam("max_age", strconv.Itoa(int(freshFor/time.Second))),
	}
	if len(p.ACR) > 0 {
		options = append(options, oauth2.SetAuthURLParam("acr_values", strings.Join(p.ACR, " ")))
	}
	return p.client(known).AuthCodeURL(errand.State, options...), errand, nil
}

// Vouched is what a provider says of somebody.
type Vouched struct {
	sepa.Masked
	// Subject is how it calls them, for good.
	Subject string
	Email   string
	// IsVerified tells that the address is theirs, IsDoubted that the provider says it may not be.
	IsVerified, IsDoubted bool
	Roles                 []string
	// Tenants are ids and names; HasTenants tells that there was a word about them at all.
	Tenants    []string
	HasTenants bool
	// At is when it made sure of them, zero where it does not say.
	At time.Time
}

// errTooWeak is what somebody is told of whom the provider has not made sure enough.
var errTooWeak = &RefusedError{"Your sign-in there was not strong enough for here. Use your second factor there, or ask whoever administers it."}

// errStrayAnswer is what somebody is told who comes back without having been sent.
var errStrayAnswer = &RefusedError{"This sign-in was not begun in this browser, or too long ago. Begin again."}

// Finish takes what a provider sends a browser back with, and is what it says of whoever sits there.
func (p *Provider) Finish(ctx context.Context, errand Errand, state, code string) (v Vouched, err error) {
	if err := errand.Expects(state); err != nil {
		return v, err
	}
	known, err := p.find()
	if err != nil {
		return v, err
	}
	ctx = asking(ctx)
	token, err := p.client(known).Exchange(ctx, code, oauth2.VerifierOption(errand.Verifier))
	if err != nil {
		return v, &ProviderError{withoutBody(err)}
	}
	text, _ := token.Extra("id_token").(string)
	proof, err := known.Verifier(&oidc.Config{ClientID: p.ClientID, Now: p.Clock.Now}).Verify(ctx, text)
	if err != nil {
		return v, &ProviderError{err}
	}
	if subtle.ConstantTimeCompare([]byte(proof.Nonce), []byte(errand.Nonce)) != 1 {
		return v, &ProviderError{errors.New("its proof is for another sign-in")}
	}
	if !isSubject(proof.Subject) {
		return v, &ProviderError{errors.New("its proof is of nobody")} // all of whom would be one
	}
	claims := map[string]any{}
	if err := proof.Claims(&claims); err != nil {
		return v, &ProviderError{err}
	}
	if party, isNamed := claims["azp"]; isNamed && party != any(p.ClientID) {
		return v, &ProviderError{errors.New("its proof was given to another application")} // which may show it to us as well
	}
	if strength, _ := claims["acr"].(string); len(p.ACR) > 0 && !slices.Contains(p.ACR, strength) {
		return v, errTooWeak
	}
	at := madeSureAt(claims)
	if err := p.ask(ctx, known, token, proof.Subject, claims); err != nil {
		return v, &ProviderError{err}
	}
	v = p.vouched(proof.Subject, claims)
	v.At = at
	return v, nil
}

// isSubject tells what may be somebody's name for good: OpenID has them be 255 letters of ASCII at most.
func isSubject(text string) bool {
	const longest = 255
	return text != "" && len(text) <= longest && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

// madeSureAt is when a provider made sure of somebody, as its proof says; zero where it says nothing. Some write numbers as texts.
func madeSureAt(claims map[string]any) time.Time {
	seconds, isTold := claims["auth_time"].(float64)
	if text, isText := claims["auth_time"].(string); isText {
		read, err := strconv.ParseInt(text, 10, 64)
		seconds, isTold = float64(read), err == nil
	}
	if !isTold {
		return time.Time{}
	}
	const endOfTime = 1 << 40
	return time.Unix(int64(min(max(seconds, 0), endOfTime)), 0).UTC()
}

// withoutBody is an error without what the provider wrote to it, which may hold the code.
func withoutBody(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("it answered %d (%s) to the code", refused.Response.StatusCode, refused.ErrorCode)
	}
	return err
}

// ask adds what the provider tells of somebody only when asked: many put no roles into
// the proof itself, or no tenants, and who is bound to some must not come in for all. What
// stands there holds.
func (p *Provider) ask(ctx context.Context, known *oidc.Provider, token *oauth2.Token, subject string, claims map[string]any) error {
	isTold := func(path string) bool { _, found := claimAt(claims, path); return found }
	if known.UserInfoEndpoint() == "" || isTold(p.RoleClaim) && isTold(p.TenantsClaim) && isTold("email") {
		return nil
	}
	info, err := known.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return err
	}
	if info.Subject != subject {
		return errors.New("it tells of somebody else than was asked")
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return err
	}
	if address, _ := more["email"].(string); isTold("email") && claims["email"] != any(address) {
		delete(more, "email_verified") // of another address
	}
	complete(claims, more)
	return nil
}

// complete adds to claims what is missing there, also within objects.
func complete(claims, more map[string]any) {
	for name, value := range more {
		was, isTold := claims[name]
		within, isObject := was.(map[string]any)
		further, isAlso := value.(map[string]any)
		switch {
		case !isTold:
			claims[name] = value
		case isObject && isAlso:
			complete(within, further)
		}
	}
}

func (p *Provider) vouched(subject string, claims map[string]any) Vouched {
	email, _ := claims["email"].(string)
	verified := fmt.Sprint(claims["email_verified"])
	v := Vouched{
		Subject: p.Issuer + " " + subject, Email: strings.TrimSpace(email), IsVerified: verified == "true", IsDoubted: verified == "false",
		Roles: textsAt(claims, p.RoleClaim), Tenants: textsAt(claims, p.TenantsClaim),
	}
	_, v.HasTenants = claimAt(claims, p.TenantsClaim) // a claim that is null names nobody
	return v
}

// claimAt finds a claim by its name, or by a path with points in it.
func claimAt(claims map[string]any, path string) (value any, found bool) {
	if value, found = claims[path]; found {
		return value, true
	}
	name, rest, isPath := strings.Cut(path, ".")
	within, isObject := claims[name].(map[string]any)
	if !isPath || !isObject {
		return nil, false
	}
	return claimAt(within, rest)
}

// textsAt are the words of a claim: one, or a list.
func textsAt(claims map[string]any, path string) (texts []string) {
	claim, _ := claimAt(claims, path)
	switch said := claim.(type) {
	case string:
		texts = strings.FieldsFunc(said, func(letter rune) bool { return letter == ',' })
	case []any:
		for _, entry := range said {
			if text, isText := entry.(string); isText {
				texts = append(texts, text)
			}
		}
	}
	for i := range texts {
		texts[i] = strings.TrimSpace(texts[i])
	}
	return texts
}

// groupPrefix begins the name of a group that stands for a role.
const groupPrefix = "sepad-"

// role is the highest of the roles that are named, "" for none.
func (v Vouched) role() (role store.Role) {
	for _, name := range v.Roles {
		if named := store.Role(strings.TrimPrefix(name, groupPrefix)); validRole(named) && (role == "" || named.Includes(role)) {
			role = named
		}
	}
	return role
}

// tenants are those of the named ones that are here. Without a word about them it is all.
func (v Vouched) tenants(all []merchant.Tenant) (set store.TenantSet) {
	if !v.HasTenants || slices.Contains(v.Tenants, "*") {
		return store.TenantSet{All: true}
	}
	for _, t := range all {
		if slices.Contains(v.Tenants, t.ID.String()) || slices.Contains(v.Tenants, t.Name) {
			set.IDs = append(set.IDs, t.ID)
		}
	}
	return set
}
