package main

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sepad/internal/testenv/browser"
)

// freeAddress is one of this machine at which nobody answers.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// begin starts a program that runs until the test ends.
func begin(t *testing.T, cmd *exec.Cmd) *lockedBuffer {
	t.Helper()
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return out
}

// awaitOpen waits until somebody answers at an address.
func awaitOpen(t *testing.T, address string) {
	t.Helper()
	ticker, limit := time.NewTicker(50*time.Millisecond), time.After(time.Minute)
	defer ticker.Stop()
	for {
		if connection, err := net.Dial("tcp", address); err == nil {
			_ = connection.Close()
			return
		}
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("nobody answers at %s", address)
		}
	}
}

// surfer is somebody with a browser.
type surfer struct {
	t   *testing.T
	ctx context.Context
	log *lockedBuffer
}

func newSurfer(t *testing.T, log *lockedBuffer) *surfer {
	t.Helper()
	return &surfer{t, browser.Tab(t, 3*time.Minute), log}
}

func (c *surfer) visit(address string) {
	c.t.Helper()
	if err := chromedp.Do(c.ctx, chromedp.Navigate(address)); err != nil {
		c.t.Fatalf("%s: %v", address, err)
	}
}

// await waits until an expression is true of the page, across reloads. Each time that
// it is not, the page may be asked to do something.
func (c *surfer) await(expression, otherwise string) {
	c.t.Helper()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		// A page that is being replaced cannot answer: its successor can.
		so, err := chromedp.Run(c.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && (!!(`+expression+`) || (()=>{`+otherwise+`; return false})())`))
		if err == nil && so {
			return
		}
		select {
		case <-ticker.C:
		case <-c.ctx.Done():
			shown, _ := chromedp.Run(context.WithoutCancel(c.ctx), chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
			c.t.Fatalf("it never came to be that %s\n%s\n%s", expression, shown, c.log)
		}
	}
}

// do runs a script on the page once something is true of it.
func (c *surfer) do(when, script string) {
	c.t.Helper()
	c.await(when, "")
	if _, err := chromedp.Run(c.ctx, chromedp.Evaluate[bool](`(()=>{`+script+`; return true})()`)); err != nil && c.ctx.Err() != nil {
		c.t.Fatalf("%s: %v", script, err)
	}
}

// order fills a product's form in and sends it.
func (c *surfer) order(shop, product, email string) {
	c.t.Helper()
	c.visit(shop)
	c.do(`document.getElementById("`+product+`")`, `const f=document.getElementById("`+product+`").form; f.email.value="`+email+`"; f.requestSubmit()`)
}

// payOnPage pays on the hosted page and follows the way back to the shop.
func (c *surfer) payOnPage() {
	c.t.Helper()
	c.do(`document.getElementById("iban")`, `
		const set=(id,text)=>{const e=document.getElementById(id); e.value=text; e.dispatchEvent(new Event("input",{bubbles:true}))};
		set("iban","`+approvedIBAN()+`"); const holder=document.querySelector("[name=iban_holder_name]"); holder.value="Ada Keller";
		holder.dispatchEvent(new Event("input",{bubbles:true})); const agree=document.getElementById("agree"); if(agree) agree.click();
		document.getElementById("iban").form.requestSubmit()`)
	c.await(`location.pathname.startsWith("/account/")`, `const way=document.querySelector('a[href*="/account/"]'); if(way) way.click()`)
}

func (c *surfer) awaitFulfilled() {
	c.t.Helper()
	c.await(`document.getElementById("state").innerText.includes("on its way")`, `location.reload()`)
}

func TestTheSampleShop(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "shop")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir, build.Env = "../../examples/shop", append(build.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the shop does not compile: %v\n%s", err, out)
	}
	folder, address := t.TempDir(), freeAddress(t)
	s := startDev(t, folder, nil)
	secret := firstMatch(s.welcome, `signing secret (\S+)`)
	shop := exec.CommandContext(t.Context(), program, "-listen", address, "-service", s.url, "-secret", secret)
	shop.Dir = folder
	log := begin(t, shop)
	begin(t, command(t, folder, nil, "listen", "--forward", "http://"+address+"/hooks"))

	c := newSurfer(t, log)
	awaitOpen(t, address)
	t.Run("a poster is paid on the payment page", func(t *testing.T) {
		c.order("http://"+address, "poster", "ada@shop.example")
		c.payOnPage()
		c.awaitFulfilled()
	})
	t.Run("a poster is paid by the shop's own form, at the second try", func(t *testing.T) {
		c.order("http://"+address, "poster-form", "ben@shop.example")
		pay := func(iban string) string {
			return `document.querySelector("[name=iban]").value="` + iban + `"; document.getElementById("pay").form.requestSubmit()`
		}
		c.do(`document.getElementById("pay")`, pay("DE00"))
		c.do(`document.querySelector(".problem")`, pay("DE62370400440532013001"))
		c.do(`document.querySelector(".problem") && document.querySelector("[name=iban]").value === ""`, pay(approvedIBAN()))
		c.awaitFulfilled()
	})
	t.Run("a subscription is taken out and cancelled", func(t *testing.T) {
		c.order("http://"+address, "premium", "cid@shop.example")
		c.payOnPage()
		c.awaitFulfilled()
		c.do(`document.getElementById("cancel")`, `document.getElementById("cancel").form.requestSubmit()`)
		c.await(`document.getElementById("subscription") && document.getElementById("subscription").innerText.includes("ends on") && !document.getElementById("cancel")`, "")
	})
}
