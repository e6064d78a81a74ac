package store_test

import (
	"errors"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestSessionRoundTrip(t *testing.T) {
	t.Parallel()

	t.Run("every field of a session and its lead comes back", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			draft := env.Draft(shop, storetest.WithTerms(storetest.PaidTrial))
			if err := env.Create(t, draft); err != nil {
				t.Fatal(err)
			}
			found := env.Find(t, draft.Token)
			storetest.Equal(t, found.Session, draft.Session)
			storetest.Equal(t, found.Lead, draft.Lead)
			byID, err := env.Store.Tenant(shop.ID).Session(t.Context(), draft.ID)
			if err != nil {
				t.Fatal(err)
			}
			storetest.Equal(t, byID, draft.Session)
		})
	})

	t.Run("fields that are not set come back unset", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			draft := env.Draft(env.Shop(t), func(d *storetest.Draft) {
				d.CampaignID, d.OfferID, d.HostedPageID, d.WebhookProfileID, d.CustomerIP = nil, nil, nil, nil, ""
				d.Lead = payment.Lead{ID: d.LeadID, Email: "a@b.example"}
			})
			if err := env.Create(t, draft); err != nil {
				t.Fatal(err)
			}
			found := env.Find(t, draft.Token)
			storetest.Equal(t, found.Session, draft.Session)
			storetest.Equal(t, found.Lead, draft.Lead)
		})
	})
}

// TestAPayersAddress holds the guard of the statement: between reading a lead and
// writing where its payer lives, a merchant may have told another address.
func TestAPayersAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		for _, c := range []struct{ name, read, now, want string }{
			{"fills in what is empty", "|", "|", "Gasse 1|Bern"},
			{"completes a part", "Weg 2|", "Weg 2|", "Gasse 1|Bern"},
			{"completes another part", "|", "|Genf", "Gasse 1|Bern"},
			{"leaves what a merchant has told since", "|", "Weg 2|Genf", "Weg 2|Genf"},
			{"replaces what was read", "Gase 1|Bern", "Gase 1|Bern", "Gasse 1|Bern"},
			{"leaves what has changed since", "Gase 1|Bern", "Weg 2|Genf", "Weg 2|Genf"},
			{"leaves another street of the same town", "Gase 1|Bern", "Weg 2|Bern", "Weg 2|Bern"},
			{"leaves the same street of another town", "Gase 1|Bern", "Gase 1|Thun", "Gase 1|Thun"},
		} {
			t.Run(c.name, func(t *testing.T) {
				lead := env.Session(t, shop, storetest.WithEmail(payment.NewID().String()+"@shop.example")).Lead
				known, told := lead, lead
				known.Address, known.City, _ = strings.Cut(c.read, "|")
				told.Address, told.City = "Gasse 1", "Bern"
				address, city, _ := strings.Cut(c.now, "|")
				env.Exec(t, `UPDATE leads SET address = $1, city = $2 WHERE id = $3`, address, city, lead.ID.String())
				env.Write(t, func(tx *store.Tx) error { tx.MoveLead(shop.ID, known, told); return nil })
				if got := storetest.Scalar[string](t, env, `SELECT address || '|' || city FROM leads WHERE id = $1`, lead.ID); got != c.want {
					t.Errorf("the lead lives at %q, want %q", got, c.want)
				}
			})
		}
	})
}

func TestLeadIsKnownByItsAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		first := env.Settled(t, shop, storetest.WithEmail("Anna@Example.org"))
		env.Now = env.Now.Add(time.Minute)
		again := env.Draft(shop, storetest.WithEmail("anna@example.ORG"), func(d *storetest.Draft) {
			d.Lead.FirstName, d.Lead.LastName, d.Lead.Country, d.Lead.Address = "Anne", "Meier", "AT", "Ring 2"
			d.Lead.City, d.Lead.PostalCode, d.Lead.Phone = "Wien", "1010", "+43 1 2345"
		})
		if err := env.Create(t, again); err != nil {
			t.Fatal(err)
		}
		updated := again.Lead
		updated.ID = first.Session.LeadID
		storetest.Equal(t, env.Find(t, again.Token).Lead, updated)

		elsewhere := env.Session(t, other, storetest.WithEmail("anna@example.org"))
		if elsewhere.Lead.ID == updated.ID || env.Count(t, "leads") != 2 {
			t.Error("another tenant's lead is the same person")
		}
		storetest.Equal(t, env.Find(t, again.Token).Lead, updated)
	})
}

// TestWhatACreateLeavesOutOfALeadStays: a merchant that says nothing of a field, as of a phone number, does not take it
// away; whatever else it says is written.
func TestWhatACreateLeavesOutOfALeadStays(t *testing.T) {
	t.Parallel()
	unsaid := map[string]func(lead *payment.Lead, known payment.Lead){
		"address":     func(l *payment.Lead, known payment.Lead) { l.Address, l.Unsaid.Address = known.Address, true },
		"city":        func(l *payment.Lead, known payment.Lead) { l.City, l.Unsaid.City = known.City, true },
		"postal code": func(l *payment.Lead, known payment.Lead) { l.PostalCode, l.Unsaid.PostalCode = known.PostalCode, true },
		"phone":       func(l *payment.Lead, known payment.Lead) { l.Phone, l.Unsaid.Phone = known.Phone, true },
	}
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		for name, leaveOut := range alsoAllBut(unsaid) {
			t.Run(name, func(t *testing.T) {
				known := env.Find(t, env.Settled(t, shop).Session.Token).Lead
				again := env.Draft(shop, storetest.WithEmail(known.Email), func(d *storetest.Draft) {
					d.Lead.Address, d.Lead.City, d.Lead.PostalCode, d.Lead.Phone = "Ring 2", "Wien", "1010", "+43 1 2345"
				})
				want := again.Lead
				want.ID = known.ID
				leaveOut(&want, known)
				again.Lead.Unsaid, want.Unsaid = want.Unsaid, payment.Lead{}.Unsaid
				if err := env.Create(t, again); err != nil {
					t.Fatal(err)
				}
				storetest.Equal(t, env.Find(t, again.Token).Lead, want)
			})
		}
	})
}

// alsoAllBut adds to ways of leaving one field out those that leave out all others.
func alsoAllBut(one map[string]func(*payment.Lead, payment.Lead)) map[string]func(*payment.Lead, payment.Lead) {
	ways := maps.Clone(one)
	for name := range one {
		ways["all but the "+name] = func(lead *payment.Lead, known payment.Lead) {
			for other, leaveOut := range one {
				if other != name {
					leaveOut(lead, known)
				}
			}
		}
	}
	return ways
}

// email is the lead's that several sessions are made for.
const email = "anna@example.org"

func TestOneActiveSessionPerLead(t *testing.T) {
	t.Parallel()

	t.Run("a second active session is refused and leaves nothing behind", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			env.Session(t, shop, storetest.WithEmail(email))
			wantLeadBusy(t, env, shop)
		})
	})

	t.Run("of many creates at once one succeeds", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			second := env.Reopen(t)
			wins := race(t, 12, func(i int) error {
				process := []*store.Store{env.Store, second}[i%2]
				draft := env.Draft(shop, storetest.WithEmail(email))
				create := []func(*store.Tx, store.NewSession, payment.Lead){(*store.Tx).CreateSession, (*store.Tx).ReplaceSession}[i%3%2]
				err := process.Write(t.Context(), env.Now, func(tx *store.Tx) error {
					create(tx, env.New(t, draft), draft.Lead)
					return nil
				})
				return store.Refused(err)
			}, func(err error) bool { return errors.Is(err, store.ErrLeadBusy) })
			if wins != 1 || env.Count(t, "sessions") != 1 {
				t.Errorf("%d creates won, %d sessions are there", wins, env.Count(t, "sessions"))
			}
		})
	})

	t.Run("a session whose time has run out makes way at that instant", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			first := env.Session(t, shop, storetest.WithEmail(email), storetest.ExpiresIn(time.Hour))
			env.Now = env.Now.Add(time.Hour - time.Microsecond)
			wantLeadBusy(t, env, shop)
			env.Now = env.Now.Add(time.Microsecond)
			env.Session(t, shop, storetest.WithEmail(email))
			made := env.Find(t, first.Session.Token).Session
			if made.Status != payment.SessionExpired || made.HoldsLead {
				t.Errorf("the old session is %s, holding its lead: %v", made.Status, made.HoldsLead)
			}
		})
	})
}

func TestActiveSessionUnderPayment(t *testing.T) {
	t.Parallel()

	t.Run("one with an open attempt does not make way", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			env.Attempt(t, env.Session(t, shop, storetest.WithEmail(email), storetest.ExpiresIn(time.Hour)))
			env.Now = env.Now.Add(2 * time.Hour)
			wantLeadBusy(t, env, shop)
		})
	})

	t.Run("one that awaits verification stands in the way until its time is over, and goes on awaiting", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			awaiting := env.Awaiting(t, shop, storetest.WithEmail(email), storetest.ExpiresIn(time.Hour))
			wantLeadBusy(t, env, shop)
			env.Now = env.Now.Add(2 * time.Hour)
			env.Session(t, shop, storetest.WithEmail(email))
			left := env.Find(t, awaiting.Session.Token).Session
			if left.Status != payment.SessionAwaiting || left.HoldsLead {
				t.Errorf("the old session is %s, holding its lead: %v", left.Status, left.HoldsLead)
			}
			testRejectedAfterMakingWay(t, env, awaiting)
		})
	})

	t.Run("a completed session does not stand in the way", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			env.Settled(t, shop, storetest.WithEmail(email))
			env.Session(t, shop, storetest.WithEmail(email))
		})
	})
}

// testRejectedAfterMakingWay settles a session that let go of its lead: it must
// not take the lead back from the session that came after it.
func testRejectedAfterMakingWay(t *testing.T, env *storetest.Env, awaiting payment.Debit) {
	t.Helper()
	opened, err := env.Debit(t, awaiting.Transaction).BeginExpire(env.Now)
	if err != nil {
		t.Fatal(err)
	}
	env.Write(t, func(tx *store.Tx) error {
		tx.Reopen(opened)
		return nil
	})
	env.Settle(t, opened, payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.MandateRejected}})
	if left := env.Find(t, awaiting.Session.Token).Session; left.HoldsLead || left.Status != payment.SessionExpired {
		t.Errorf("the old session is %s, holding its lead: %v", left.Status, left.HoldsLead)
	}
}

func wantLeadBusy(t *testing.T, env *storetest.Env, shop storetest.Shop) {
	t.Helper()
	before := env.Dump(t)
	draft := env.Draft(shop, storetest.WithEmail(strings.ToUpper(email)), func(d *storetest.Draft) { d.Lead.City = "Elsewhere" })
	if err := store.Refused(env.Create(t, draft)); !errors.Is(err, store.ErrLeadBusy) {
		t.Errorf("got %v", err)
	}
	if env.Dump(t) != before {
		t.Error("the refused create has changed something")
	}
}

// race runs n calls at once and counts those that succeed; the others must fail
// as expected.
func race(t *testing.T, n int, call func(i int) error, expected func(error) bool) int {
	t.Helper()
	var wins atomic.Int32
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			switch err := call(i); {
			case err == nil:
				wins.Add(1)
			case !expected(err):
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	close(start)
	group.Wait()
	return int(wins.Load())
}

func TestSessionByToken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		found := env.Session(t, shop)
		if found.SetupVersion == 0 {
			t.Error("the set-up's version does not come with the session")
		}
		token := found.Session.Token
		foreign := payment.NewToken(other.Number)
		for name, bad := range map[string]string{
			"of no session":                   payment.NewToken(shop.Number),
			"of no tenant":                    payment.NewToken(4_000_000_000),
			"with another tenant's number":    token[:len(token)-6] + foreign[len(foreign)-6:],
			"with a letter changed":           token[:10] + flipped(token[10]) + token[11:],
			"that is too short":               token[:len(token)-1],
			"that is empty":                   "",
			"that tries to be SQL":            "ps_' OR '1'='1' OR '1'='1' OR '1'='1' OR '1'='1",
			"without its prefix":              "xx_" + token[3:],
			"with a byte that is not base 64": token[:20] + "\x00" + token[21:],
		} {
			if _, err := env.Store.SessionByToken(t.Context(), bad); !errors.Is(err, payment.ErrSessionNotFound) {
				t.Errorf("a token %s: %v", name, err)
			}
		}
	})
}

func flipped(letter byte) string {
	if letter == 'A' {
		return "B"
	}
	return "A"
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()

	t.Run("a key is bound to the session that was made under it, until its time is over", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			draft := env.Draft(shop)
			if err := createUnder(t, env, draft, "key-1"); err != nil {
				t.Fatal(err)
			}
			wantRepeat(t, env, shop.Tenant, "key-1", draft.Token)
			wantRepeat(t, env, shop.Tenant, "KEY-1", "")
			env.Now = env.Now.Add(24*time.Hour - time.Microsecond)
			wantRepeat(t, env, shop.Tenant, "key-1", draft.Token)
			env.Now = env.Now.Add(time.Microsecond)
			wantRepeat(t, env, shop.Tenant, "key-1", "")
			again := env.Draft(shop)
			if err := createUnder(t, env, again, "key-1"); err != nil {
				t.Errorf("a key whose time is over: %v", err)
			}
			wantRepeat(t, env, shop.Tenant, "key-1", again.Token)
		})
	})

	t.Run("a used key refuses the create and leaves nothing behind", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			if err := createUnder(t, env, env.Draft(shop), "key-1"); err != nil {
				t.Fatal(err)
			}
			before := env.Dump(t)
			if err := createUnder(t, env, env.Draft(shop), "key-1"); !store.IsRepeat(err) {
				t.Errorf("got %v", err)
			}
			if env.Dump(t) != before {
				t.Error("the refused create has changed something")
			}
		})
	})

	t.Run("of many creates under one key one succeeds", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			wins := race(t, 12, func(int) error { return createUnder(t, env, env.Draft(shop), "key-1") }, store.IsRepeat)
			if wins != 1 || env.Count(t, "sessions") != 1 || env.Count(t, "leads") != 1 {
				t.Errorf("%d creates won, %d sessions are there", wins, env.Count(t, "sessions"))
			}
		})
	})
}

func TestForgetExpiredKeys(t *testing.T) {
	t.Parallel()

	t.Run("keys whose time is over are forgotten, and no others", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			old, fresh := env.Draft(shop), env.Draft(shop)
			if err := createUnder(t, env, old, "old"); err != nil {
				t.Fatal(err)
			}
			env.Now = env.Now.Add(24 * time.Hour)
			if err := createUnder(t, env, fresh, "fresh"); err != nil {
				t.Fatal(err)
			}
			if err := env.Store.ForgetExpiredKeys(t.Context(), env.Now); err != nil {
				t.Fatal(err)
			}
			if kept := env.Count(t, "idempotency_keys"); kept != 1 {
				t.Errorf("%d keys are kept", kept)
			}
			wantRepeat(t, env, shop.Tenant, "fresh", fresh.Token)
		})
	})
}

func createUnder(t *testing.T, env *storetest.Env, draft storetest.Draft, key string) error {
	t.Helper()
	return env.TryWrite(t, func(tx *store.Tx) error {
		tx.CreateSession(env.New(t, draft), draft.Lead)
		tx.Remember(store.RequestKey{Scope: draft.TenantID, Key: key, RequestHash: "hash of the request", At: env.Now}, draft.ID)
		return nil
	})
}

// wantRepeat expects a session's token under a key, or "" for none.
func wantRepeat(t *testing.T, env *storetest.Env, tenant merchant.Tenant, key, token string) {
	t.Helper()
	made, err := env.Store.Remembered(t.Context(), store.RequestKey{Scope: tenant.ID, Key: key, At: env.Now})
	if err != nil || (made != nil) != (token != "") {
		t.Fatalf("key %q: found %v, error %v", key, made, err)
	}
	if made == nil {
		return
	}
	if made.RequestHash != "hash of the request" {
		t.Errorf("the request's hash came back as %q", made.RequestHash)
	}
	if got, err := env.Store.Tenant(tenant.ID).Session(t.Context(), made.ID); err != nil || got.Token != token {
		t.Errorf("key %q: %v leads to another session", key, err)
	}
}
