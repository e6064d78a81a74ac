package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/limit"
	"sepad/internal/store"
)

func TestPay(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		token := s.session(t, posterCampaign)
		page := s.get(t, path(token))
		s.ask(t, http.MethodPost, path(token), page.form(apptest.Approved), "User-Agent", "Browser/1.0").wantBack(t, token)
		s.WantStatus(t, token, "COMPLETED")
		s.WantLedger(t, token, 1, 1)
		if source := scalar[string](t, s, `SELECT source FROM transactions`); source != "hosted_page" {
			t.Errorf("the source is %s", source)
		}
		checkEvidence(t, s, token)
	})
}

// checkEvidence holds what was recorded of the payer's agreement against what
// the page had shown.
func checkEvidence(t *testing.T, s *shop, token string) {
	t.Helper()
	evidence := scalar[string](t, s, `SELECT a.acceptance_mode || '|' || a.language || '|' || a.text_version || '|' || a.client_ip || '|' || a.user_agent
		FROM mandate_acceptances a JOIN transactions t ON t.tenant_id = a.tenant_id AND t.id = a.transaction_id`)
	if evidence != "checkbox|en|3|127.0.0.1|Browser/1.0" {
		t.Errorf("the evidence is %s", evidence)
	}
	text := scalar[string](t, s, `SELECT text FROM mandate_acceptances`)
	for _, part := range []string{
		"SEPA direct debit mandate", "you authorise (A) Bergladen GmbH", "(B) your bank", "within eight weeks", "a statement that you can obtain from your bank", "Creditor identifier: DE98ZZZ09999999999",
		"Mandate reference: MND-", "Type of payment: One-off payment", "Payments: €19.90",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the evidence: %s", part, text)
		}
	}
	accepted := scalar[int64](t, s, `SELECT a.accepted_at - t.mandate_at FROM mandate_acceptances a JOIN transactions t ON t.id = a.transaction_id`)
	if accepted != 0 {
		t.Errorf("agreed %d µs beside the mandate's date", accepted)
	}
	s.get(t, path(token)+"mandate/").want(t, http.StatusOK, "you authorise (A) Bergladen GmbH", "DE •••• 3000", apptest.HolderName, "Agreed on").
		without(t, apptest.Approved)
}

func TestMistakesAreSaidAtTheField(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for iban, sentence := range map[string]string{
		"":                              "Please enter your IBAN.",
		"DE8937040044053201300":         "This IBAN has 21 characters; those that start with DE have 22.",
		"DE89370400440532013001":        "one character is wrong, or two are swapped",
		"DE8937040044053201300X":        "Character 22 of this IBAN must be a digit.",
		"NL911BNA0417164300":            "Character 5 of this IBAN must be a letter.",
		"XX89370400440532013000":        "No IBAN starts with XX.",
		"89370400440532013000":          "An IBAN starts with the two letters",
		"DE89 3704 0044 0532 013!":      "An IBAN has only letters",
		"BR1800360305000010009795493C1": "Accounts in this country cannot be debited",
	} {
		token := s.session(t, posterCampaign)
		answer := s.submit(t, token, iban).want(t, http.StatusUnprocessableEntity, "Please check your details", sentence)
		if !strings.Contains(answer.body, `aria-invalid="true"`) || !strings.Contains(answer.body, `href="#iban"`) || strings.Count(answer.text, sentence) != 2 {
			t.Errorf("%q: the mistake is not tied to its field", sentence)
		}
		if iban != "" && !strings.Contains(answer.body, `value="`+iban+`"`) {
			t.Errorf("%q is lost", sentence)
		}
		s.WantStatus(t, token, "PENDING")
		s.WantLedger(t, token, 0, 0)
	}
	t.Run("everything wrong is said at once", func(t *testing.T) {
		t.Parallel()
		token := s.session(t, posterCampaign)
		form := s.get(t, path(token)).form("")
		form.Set("iban_holder_name", " ")
		form.Del("mandate")
		s.ask(t, http.MethodPost, path(token), form).want(t, http.StatusUnprocessableEntity,
			"Please enter your IBAN.", "Please enter the name of the account holder.", "Please tick the box")
	})
	t.Run("a holder's name is held to the contract", func(t *testing.T) {
		t.Parallel()
		token := s.session(t, posterCampaign)
		form := s.get(t, path(token)).form(apptest.Approved)
		for name, sentence := range map[string]string{strings.Repeat("ö", 256): "255 characters fit", "A\x07B": "cannot be used", "\xff": "cannot be used",
			"Ada \u202enoryB": "cannot be used", "\u200b\u2060": "Please enter the name"} {
			form.Set("iban_holder_name", name)
			s.ask(t, http.MethodPost, path(token), form).want(t, http.StatusUnprocessableEntity, sentence)
		}
	})
}

func TestWhatComesAlongWithACopiedIBANIsForgiven(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, iban := range []string{"IBAN: DE89 3704 0044 0532 0130 00", "iban de89-3704-0044-0532-0130-00", " DE89\u00a03704\u202f0044\t0532 0130 00\u200b ",
		"DE89.3704.0044.0532.0130.00", "IBAN DE89 3704 0044 0532 0130 00 BIC: COBADEFFXXX", "DE89370400440532013000 / COBADEFF"} {
		token := s.session(t, posterCampaign)
		s.submit(t, token, iban).wantBack(t, token)
		s.WantStatus(t, token, "COMPLETED")
	}
}

func TestNothingIsDebitedTwice(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		token := s.session(t, posterCampaign)
		form := s.get(t, path(token)).form(apptest.Approved)
		answers := make(chan answer, 8)
		for range cap(answers) {
			go func() {
				got, err := s.try(t, http.MethodPost, path(token), form)
				if err != nil {
					t.Error(err)
				}
				answers <- got
			}()
		}
		for range cap(answers) {
			(<-answers).wantBack(t, token) // never an error, whoever came second
		}
		s.ask(t, http.MethodPost, path(token), form).wantBack(t, token) // a page gone back to
		s.get(t, path(token)).want(t, http.StatusOK, "your payment is complete")
		s.WantLedger(t, token, 1, 1)
		if evidence := s.Env.Count(t, "mandate_acceptances"); evidence != 1 {
			t.Errorf("%d agreements are recorded", evidence)
		}
	})
}

func TestAFormThatIsSentAgainCostsNoAttempt(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	token := s.session(t, posterCampaign)
	form := s.get(t, path(token)).form(apptest.DeclinedInsufficientFunds)
	for range 3 {
		s.ask(t, http.MethodPost, path(token), form).wantBack(t, token)
	}
	s.WantLedger(t, token, 1, 0)
	s.get(t, path(token)).want(t, http.StatusOK, "You can try 2 more times.")
	s.submit(t, token, apptest.Approved).wantBack(t, token)
	s.WantLedger(t, token, 2, 1)
}

func TestALostAnswerIsShownAsProcessing(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		token := s.session(t, posterCampaign)
		s.submit(t, token, apptest.TimeoutApproved).wantBack(t, token)
		page := s.get(t, path(token)).want(t, http.StatusOK, "Your payment is being processed")
		if !strings.Contains(page.body, `<noscript><meta http-equiv="refresh" content="10"></noscript>`) {
			t.Error("the page does not look again by itself")
		}
		s.ask(t, http.MethodPost, path(token), page.form(apptest.Approved)).wantBack(t, token)
		s.get(t, path(token)+"state/").want(t, http.StatusOK, `{"state":"processing"}`)
		s.LookUp(t)
		s.get(t, path(token)+"state/").want(t, http.StatusOK, `{"state":"paid"}`)
		s.get(t, path(token)).want(t, http.StatusOK, "your payment is complete")
		s.WantLedger(t, token, 1, 1)
	})
}

// TestAPayerWhoGoesAwayIsServedToTheEnd breaks a request off while the gateway
// has it, as a slow network or an impatient payer does.
func TestAPayerWhoGoesAwayIsServedToTheEnd(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{SandboxWait: time.Second}, func(t *testing.T, s *shop) {
		token := s.session(t, posterCampaign)
		form := s.get(t, path(token)).form(apptest.Slow)
		ctx, leave := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path(token), strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		gone := make(chan error, 1)
		go func() {
			response, err := client.Do(request)
			if err == nil {
				response.Body.Close()
			}
			gone <- err
		}()
		apptest.Eventually(t, "the payment is under way", func() bool {
			return scalar[int](t, s, `SELECT COUNT(*) FROM transactions WHERE in_flight IS NOT NULL`) == 1
		})
		leave()
		if err := <-gone; err == nil {
			t.Error("the answer came before the payer went")
		}
		s.get(t, path(token)).want(t, http.StatusOK, "Your payment is being processed").without(t, "takes longer")
		s.ask(t, http.MethodPost, path(token), form).wantBack(t, token)
		apptest.Eventually(t, "the payment is complete", func() bool {
			return strings.Contains(s.get(t, path(token)).text, "your payment is complete")
		})
		s.WantLedger(t, token, 1, 1)
	})
}

func TestAGatewayThatCannotBeReachedCostsNothing(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	token := s.session(t, posterCampaign)
	s.submit(t, token, apptest.GatewayUnavailable).wantBack(t, token)
	s.get(t, path(token)).want(t, http.StatusOK, "The payment could not be passed on", "nothing to do with your account", "Nothing has been collected.").
		without(t, "You can try")
}

func TestVerification(t *testing.T) {
	t.Parallel()
	for decision, words := range map[string]string{"approve": "your payment is complete", "reject": "The direct debit was not permitted."} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
				token := s.session(t, posterCampaign)
				s.submit(t, token, apptest.VerificationPage).wantBack(t, token)
				page := s.get(t, path(token)).want(t, http.StatusOK, "Continue to your bank")
				check := url.Values{"action": {"verify"}}
				early := s.ask(t, http.MethodPost, path(token), check)
				if early.Header.Get("Location") != path(token)+"?checked" {
					t.Fatalf("status %d to %q", early.StatusCode, early.Header.Get("Location"))
				}
				s.get(t, path(token)+"?checked").want(t, http.StatusOK, "has not reported your decision yet")
				bank := between(t, page.body, `id="to-bank" href="`, `"`)
				if back := s.Decide(t, bank, decision); back.Header.Get("Location") != s.URL+path(token) {
					t.Fatalf("the bank leads to %q", back.Header.Get("Location"))
				}
				s.ask(t, http.MethodPost, path(token), check).wantBack(t, token)
				s.get(t, path(token)).want(t, http.StatusOK, words)
				s.ask(t, http.MethodPost, path(token), check) // once more is no mistake
				s.get(t, path(token)).want(t, http.StatusOK, words)
			})
		})
	}
}

func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, from)
	inner, _, ends := strings.Cut(rest, to)
	if !found || !ends {
		t.Fatalf("%q is missing", from)
	}
	return inner
}

func TestTheMandateIsTheOneThatWasShown(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	t.Run("a mandate that has changed is shown again", func(t *testing.T) {
		t.Parallel()
		token := s.session(t, posterCampaign)
		form := s.get(t, path(token)).form(apptest.Approved)
		form.Set("mandate_hash", "something else")
		s.ask(t, http.MethodPost, path(token), form).want(t, http.StatusConflict, "The mandate has changed since you opened this page")
		s.WantLedger(t, token, 0, 0)
	})
	t.Run("it is recorded in the language in which it was shown", func(t *testing.T) {
		t.Parallel()
		token := s.session(t, trialCampaign)
		form := s.get(t, path(token), "Accept-Language", "de").form(apptest.Approved)
		form.Del("mandate") // nothing to tick where the button says it
		s.ask(t, http.MethodPost, path(token), form, "Accept-Language", "fr").wantBack(t, token)
		evidence := scalar[string](t, s, `SELECT a.acceptance_mode || '|' || a.language || '|' || a.text FROM mandate_acceptances a
			JOIN sessions s ON s.id = a.session_id WHERE s.token = $1`, store.TokenKey(token))
		for _, part := range []string{"IMPLICIT|de|SEPA-Lastschriftmandat", "Ich ermächtige (A) Bergladen GmbH", "Zugleich (B) weise ich mein Kreditinstitut an", "Zahlungen: 1,00\u00a0€ für 14 Tage; 29,99\u00a0€ jeden Monat"} {
			if !strings.Contains(evidence, part) {
				t.Errorf("%q is missing in %s", part, evidence)
			}
		}
		s.get(t, path(token)+"mandate/", "Accept-Language", "fr").want(t, http.StatusOK, "Ich ermächtige", "Zugestimmt am")
	})
	t.Run("a merchant's own words are recorded as such", func(t *testing.T) {
		t.Parallel()
		token := s.session(t, freeCampaign)
		s.submit(t, token, apptest.Approved).wantBack(t, token)
		evidence := scalar[string](t, s, `SELECT a.text_version || '|' || a.text FROM mandate_acceptances a
			JOIN sessions s ON s.id = a.session_id WHERE s.token = $1`, store.TokenKey(token))
		if !strings.HasPrefix(evidence, "merchant|") || !strings.Contains(evidence, "Our counsel wrote this.") {
			t.Errorf("the evidence is %s", evidence)
		}
	})
	t.Run("it can be saved as one file", func(t *testing.T) {
		t.Parallel()
		token := s.session(t, premiumCampaign)
		saved := s.get(t, path(token)+"mandate/?save").want(t, http.StatusOK, "you authorise (A) Bergladen GmbH")
		if !strings.Contains(saved.Header.Get("Content-Disposition"), `attachment; filename="mandate-MND-`) ||
			strings.Contains(saved.body, "<link") || strings.Contains(saved.body, token) {
			t.Errorf("the file is not whole: %v", saved.Header)
		}
	})
}

func TestAClosedGatewayIsNoEndlessLoop(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	token := s.session(t, posterCampaign)
	form := s.get(t, path(token)).form(apptest.Approved)
	s.Env.Exec(t, `UPDATE setup_records SET active = FALSE, document = REPLACE(document, '"active":true', '"active":false') WHERE id = $1`, apptest.Gateway)
	s.Env.Exec(t, `UPDATE tenants SET setup_version = setup_version + 1`)
	s.ask(t, http.MethodPost, path(token), form).want(t, http.StatusConflict, "cannot be taken at the moment")
}

func TestPayingIsLimited(t *testing.T) {
	t.Parallel()
	s := stock(t, apptest.SQLite(t, apptest.Options{Rates: limit.Rates{limit.BrowserPay: 1}}))
	t.Run("a payment too many keeps what was typed", func(t *testing.T) {
		var second string
		var refused answer
		for within := time.Duration(0); refused.Response == nil || within >= time.Second && refused.StatusCode != http.StatusTooManyRequests; {
			first := s.session(t, posterCampaign)
			second = s.session(t, posterCampaign)
			form, other := s.get(t, path(first)).form(apptest.Approved), s.get(t, path(second)).form(apptest.Approved)
			began := time.Now()
			apptest.Eventually(t, "a payment that is let through", func() bool {
				began = time.Now()
				return s.ask(t, http.MethodPost, path(first), form).StatusCode == http.StatusSeeOther
			})
			refused = s.ask(t, http.MethodPost, path(second), other)
			within = time.Since(began) // on a busy machine it may come too late to be refused
		}
		refused.want(t, http.StatusTooManyRequests, "several payments from your connection")
		if !strings.Contains(refused.body, `value="`+apptest.Approved+`"`) || refused.Header.Get("Retry-After") != "1" {
			t.Error("what was typed is lost, or no time is named")
		}
		s.WantLedger(t, second, 0, 0)
	})
	t.Run("a double click shows the payment", func(t *testing.T) {
		token := s.session(t, posterCampaign)
		form := s.get(t, path(token)).form(apptest.Approved)
		apptest.Eventually(t, "a payment that is let through", func() bool {
			return s.ask(t, http.MethodPost, path(token), form).StatusCode == http.StatusSeeOther
		})
		s.ask(t, http.MethodPost, path(token), form).wantBack(t, token)
		s.WantLedger(t, token, 1, 1)
	})
}

func TestStrangeForms(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	token := s.session(t, posterCampaign)
	s.ask(t, http.MethodPost, path(token), url.Values{}).want(t, http.StatusUnprocessableEntity, "Please check your details")
	s.ask(t, http.MethodPost, path(token), url.Values{"iban": {strings.Repeat("x", 70_000)}}).want(t, http.StatusRequestEntityTooLarge)
	s.ask(t, http.MethodPost, path("ps_unknown"), url.Values{}).want(t, http.StatusNotFound, "We can’t find this payment")
	s.ask(t, http.MethodPut, path(token), url.Values{}).want(t, http.StatusMethodNotAllowed)
	if short := s.get(t, strings.TrimSuffix(path(token), "/")); short.StatusCode != http.StatusPermanentRedirect {
		t.Errorf("without its slash: %d", short.StatusCode)
	}
}

func TestBankName(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	token := s.session(t, posterCampaign)
	ask := func(iban string) answer {
		return s.ask(t, http.MethodPost, path(token)+"bank/", url.Values{"iban": {iban}})
	}
	ask(apptest.Approved).want(t, http.StatusOK, "Commerzbank")
	ask("DE00").want(t, http.StatusOK, `{"bank_name":null}`)
	s.submit(t, token, apptest.Approved).wantBack(t, token)
	ask(apptest.Approved).want(t, http.StatusGone)
}
