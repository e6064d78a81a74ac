package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
)

// keyHandler answers a call that came with a valid API key.
type keyHandler func(w http.ResponseWriter, r *http.Request, caller store.Credential) error

// withKey admits API keys that have a scope, each within its own limit.
func (a *API) withKey(scope merchant.Scope, rate limit.Scope, next keyHandler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		caller, err := a.authenticate(r)
		if err != nil {
			return err
		}
		if err := a.throttle(r.Context(), rate, caller.KeyID.String()); err != nil {
			return err
		}
		if err := checkScope(caller, scope); err != nil {
			return err
		}
		r = web.Vouched(r, clock.Own{}, func() error {
			still, err := a.authenticate(r)
			if err == nil {
				err = checkScope(still, scope)
			}
			return err
		})
		who := store.Actor{Name: "key:" + caller.KeyID.String(), Address: web.ClientText(r.Context())}
		return next(w, r.WithContext(store.WithActor(r.Context(), who)), caller)
	}
}

// withKeyInTurn is withKey for lists, of which a key and the keys of a tenant have a few under way at a time in this process: a page
// takes megabytes until its reader has all of it, which is as long as he likes. What is beyond waits.
func (a *API) withKeyInTurn(scope merchant.Scope, rate limit.Scope, next keyHandler) web.Handler {
	return a.withKey(scope, rate, func(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
		whoReads := func(context.Context) (key, tenant string) { return caller.KeyID.String(), caller.TenantID.String() }
		list := web.Route{Method: r.Method, Handler: func(w http.ResponseWriter, r *http.Request) error { return next(w, r, caller) }}
		return web.InTurn(&a.lists, whoReads, list, web.Looking)(w, r)
	})
}

// checkScope refuses a key that was not made for this.
func checkScope(caller store.Credential, scope merchant.Scope) error {
	if caller.Scopes.Has(scope) {
		return nil
	}
	return &web.StatusError{Status: http.StatusForbidden, Detail: "This API key may not do this: it does not have the scope " + string(scope) + "."}
}

// withToken admits whoever knows the token in the path. Calls are counted by
// address, except those of the merchant's own server: many payers share its
// address, so it is counted by key, at the rate of a server (contract 8.1).
func (a *API) withToken(browser, server limit.Scope, next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		scope, key := browser, web.ClientKey(r.Context())
		caller, known, err := a.serverOf(r)
		if err != nil {
			return err
		}
		if known {
			scope, key = server, caller.KeyID.String()
		}
		if err := a.throttle(r.Context(), scope, key); err != nil {
			return err
		}
		return next(w, r)
	}
}

// serverOf finds the merchant's server behind a call on a session. A header
// that is bad, or that of another tenant, is ignored: none is needed here.
func (a *API) serverOf(r *http.Request) (caller store.Credential, known bool, err error) {
	credential := web.ReadCredential(r)
	if credential.Kind != web.APIKeyCredential {
		return store.Credential{}, false, nil
	}
	caller, known, err = a.findKey(r.Context(), credential.Secret, a.Store.TrustedCredential)
	if err != nil || !known {
		return store.Credential{}, false, err
	}
	number, _ := payment.TokenTenant(r.PathValue("token"))
	if known = caller.TenantNumber == number; known {
		noteCaller(r.Context(), caller)
	}
	return caller, known, nil
}

// authenticate finds the API key of a call. Failures are counted by address, so
// that keys cannot be guessed; a valid key passes however many there were.
func (a *API) authenticate(r *http.Request) (store.Credential, error) {
	return a.authenticateBy(r, a.Store.CredentialByKeyHash)
}

// keyLook is a way to look a key up by its hash.
type keyLook func(ctx context.Context, keyHash string) (store.Credential, bool, error)

func (a *API) authenticateBy(r *http.Request, look keyLook) (store.Credential, error) {
	credential := web.ReadCredential(r)
	if credential.Kind == web.NoCredential {
		return store.Credential{}, web.ErrNoCredential
	}
	if credential.Kind == web.APIKeyCredential {
		caller, known, err := a.findKey(r.Context(), credential.Secret, look)
		if known {
			noteCaller(r.Context(), caller)
		}
		if known || err != nil {
			return caller, err
		}
	}
	return store.Credential{}, a.refuse(r.Context(), web.ErrInvalidAPIKey)
}

// noteCaller tells the log whose call it is.
func noteCaller(ctx context.Context, caller store.Credential) {
	web.NoteCaller(ctx, web.Caller{TenantID: caller.TenantID, KeyID: caller.KeyID})
}

// recallKey gives the key of a call as this process knows it, without asking the
// database. Whoever acts on it lets the change itself rest on the key, and answers
// nothing else in its name before authenticate has confirmed it.
func (a *API) recallKey(r *http.Request) (store.Credential, bool) {
	credential := web.ReadCredential(r)
	if credential.Kind != web.APIKeyCredential || !merchant.KeyFitsEnvironment(credential.Secret, a.Environment) {
		return store.Credential{}, false
	}
	return a.Store.RecallCredential(merchant.HashAPIKey(credential.Secret))
}

// refuse answers a failed authentication, or that there were too many.
func (a *API) refuse(ctx context.Context, why error) error {
	if err := a.throttle(ctx, limit.AuthFailure, web.ClientKey(ctx)); err != nil {
		return err
	}
	return why
}

// findKey looks a key up. Keys of the other environment are not even asked for.
func (a *API) findKey(ctx context.Context, key string, look keyLook) (store.Credential, bool, error) {
	if !merchant.KeyFitsEnvironment(key, a.Environment) {
		return store.Credential{}, false, nil
	}
	hash := merchant.HashAPIKey(key)
	if !a.Store.KnowsCredential(hash) {
		leave, err := web.EnterAsStranger(ctx, &a.strangers)
		if err != nil {
			return store.Credential{}, false, err
		}
		defer leave()
	}
	caller, known, err := look(ctx, hash)
	if known {
		a.KeyUses.Note(caller.KeyID, a.Real.Now())
	}
	return caller, known, err
}

func (a *API) throttle(ctx context.Context, scope limit.Scope, key string) error {
	return web.Throttle(ctx, a.Limiter, scope, key, a.Real.Now())
}

// pathID is the id that a path names; what is no id names nothing.
func pathID(r *http.Request, none error) (uuid.UUID, error) {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil {
		return uuid.Nil, none
	}
	return id, nil
}
