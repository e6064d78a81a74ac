// Command shop is a sample shop beside `sepad dev`: a product page, the hosted checkout
// and a form of its own, a receiver of webhooks that fulfils orders, and an account page
// on which a subscription is cancelled. It keeps its orders in memory.
//
//	sepad dev                                    # in one terminal
//	go run ./examples/shop                       # in another, in the folder of sepad dev
//	sepad listen --forward http://localhost:9000/hooks
//
//	main.go    settings and routes
//	orders.go  what was ordered, and what has become of it
//	pages.go   what customers see and do
//	hooks.go   what the service tells, and catching up after a pause
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	sepad "sepad/sdk/go"
)

// The campaigns of the demo shop of sepad dev.
const (
	hostedPoster  = "018f0000-0000-7000-8000-000000000050"
	hostedPremium = "018f0000-0000-7000-8000-000000000051"
	ownFormPoster = "018f0000-0000-7000-8000-000000000053"
)

// shop is what the handlers share.
type shop struct {
	client *sepad.Client
	orders *orders
	url    string // where customers reach the shop
}

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "where the shop answers")
	service := flag.String("service", cmp.Or(os.Getenv("SEPAD_URL"), "http://127.0.0.1:8080"), "where sepad answers")
	keyFile := flag.String("key-file", ".sepad/api-key", "the API key, unless SEPAD_API_KEY has it")
	secret := flag.String("secret", os.Getenv("SEPAD_WEBHOOK_SECRET"), "the signing secret that sepad dev prints")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen, *service, *keyFile, *secret); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, listen, service, keyFile, secret string) error {
	key := os.Getenv("SEPAD_API_KEY")
	if key == "" {
		text, err := os.ReadFile(keyFile)
		if err != nil {
			return fmt.Errorf("the API key is not known: start this in the folder of sepad dev, or set SEPAD_API_KEY (%w)", err)
		}
		key = strings.TrimSpace(string(text))
	}
	s := &shop{client: sepad.New(service, key), orders: newOrders(), url: "http://" + listen}
	// What happened while the shop was away is in the feed.
	if err := s.catchUp(ctx); err != nil {
		return fmt.Errorf("%s does not answer as sepad does: %w", service, err)
	}
	server := &http.Server{Addr: listen, Handler: s.routes(secret), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	log.Printf("the shop is open at %s", s.url)
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

func (s *shop) routes(secret string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.showProducts)
	mux.HandleFunc("POST /buy", s.buy)
	mux.HandleFunc("GET /form/{order}", s.showForm)
	mux.HandleFunc("POST /form/{order}", s.payByForm)
	mux.HandleFunc("GET /account/{order}", s.showAccount)
	mux.HandleFunc("POST /account/{order}/cancel", s.cancelSubscription)
	mux.Handle("POST /hooks", s.receiver(secret))
	return mux
}
