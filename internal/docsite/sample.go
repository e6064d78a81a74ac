package docsite

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// merchantSamples are a call of the merchants' API in every language of the docs:
// Go and TypeScript by the client libraries, Python by what it brings along.
func merchantSamples(publicURL string, op operation, body node) []template.HTML {
	samples := []template.HTML{codeBlock("sh", "curl", curl(publicURL, "API_KEY", op, body))}
	if call, known := libraryCalls[op.ID]; known {
		samples = append(samples,
			codeBlock("go", "Go", call.inGo(publicURL, body)),
			codeBlock("ts", "TypeScript", call.inTypeScript(publicURL, body)))
	}
	return append(samples, codeBlock("python", "Python", python(publicURL, op, body)))
}

// operatorSamples are a call of the operators' API: over HTTP, and by the program
// itself on the machine of the database, which takes files by commands of their own.
func operatorSamples(publicURL string, op operation, body node) []template.HTML {
	samples := []template.HTML{codeBlock("sh", "curl", curl(publicURL, "SEPAD_ADMIN_TOKEN", op, body))}
	if op.Request == nil || !op.Request.Form {
		samples = append(samples, codeBlock("sh", "sepad", adminCommand(op, body)))
	}
	return samples
}

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// shellPath is a path whose parameters come from the shell's variables.
func shellPath(op operation) string {
	path := pathParameter.ReplaceAllStringFunc(op.Path, func(parameter string) string {
		return "$" + strings.ToUpper(strings.Trim(parameter, "{}"))
	})
	if len(op.query) > 0 {
		path += "?" + op.query.Encode()
	}
	return path
}

// curl is a call to paste into a shell. The reader's key and token come from
// the shell's variables, so that no secret needs to be typed into a line.
func curl(publicURL, key string, op operation, body node) string {
	lines := []string{"curl"}
	// curl itself picks POST when there is a body.
	if op.Method != http.MethodGet && (op.Method != http.MethodPost || !body.exists()) {
		lines[0] += " -X " + op.Method
	}
	lines[0] += ` "` + publicURL + shellPath(op) + `"`
	if op.NeedsKey {
		lines = append(lines, `-H "Authorization: Bearer $`+key+`"`)
	}
	switch {
	case body.exists() && op.Request.Form:
		for name, value := range body.pairs() {
			lines = append(lines, "-F "+name+"="+shellQuote(value.value()))
		}
	case body.exists():
		lines = append(lines, "-H 'Content-Type: application/json'", "-d "+shellQuote(writeJSON(body, 0, noMarks)))
	}
	return strings.Join(lines, " \\\n  ")
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// adminCommand is the call by the program, whose fields are texts unless they read as
// JSON.
func adminCommand(op operation, body node) string {
	line := "sepad admin " + op.Method + ` "` + strings.TrimPrefix(shellPath(op), "/admin/v1/") + `"`
	for name, value := range body.pairs() {
		text := value.value()
		if isScalar := value.yaml.Kind == yaml.ScalarNode; !isScalar || json.Valid([]byte(text)) {
			var compact bytes.Buffer
			_ = json.Compact(&compact, []byte(writeJSON(value, 0, noMarks))) // what was just written is JSON
			text = compact.String()
		}
		line += " " + shellQuote(name+"="+text)
	}
	return line
}

// libraryCall is how the client libraries make a call. %s stands for the body, whose
// type in Go is goBody.
type libraryCall struct {
	inGoText, goBody, inTypeScriptText string
}

const (
	goFailed = "\nif err != nil {\n\treturn err\n}\n"
	goLoop   = "\tif err != nil {\n\t\treturn err\n\t}\n"
)

// libraryCalls are the calls of the merchants' API by their names in its document.
var libraryCalls = map[string]libraryCall{
	"createSession": {
		"created, err := client.CreateSession(ctx, %s)" + goFailed + "fmt.Println(created.PaymentURL)", "SessionRequest",
		"const created = await sepad.createSession(%s);\nconsole.log(created.payment_url);",
	},
	"listSessions": {
		"for session, err := range client.Sessions(ctx, sepad.SessionFilter{Email: \"ada@shop.example\"}) {\n" + goLoop + "\tfmt.Println(session.ID, session.Status)\n}", "",
		"for await (const session of sepad.sessions({ email: \"ada@shop.example\" })) {\n  console.log(session.id, session.status);\n}",
	},
	"retrieveSession": {
		"session, err := client.Session(ctx, token)" + goFailed + "fmt.Println(session.Status)", "",
		"const session = await sepad.session(token);\nconsole.log(session.status);",
	},
	"paySession": {
		"result, err := client.Pay(ctx, token, %s)" + goFailed + "fmt.Println(result.Status)", "PayRequest",
		"const result = await sepad.pay(token, %s);\nconsole.log(result.status);",
	},
	"verifySession": {
		"result, err := client.Verify(ctx, token, \"\")" + goFailed + "fmt.Println(result.Status)", "",
		"const result = await sepad.verify(token);\nconsole.log(result.status);",
	},
	"cancelSession": {"err := client.CancelSession(ctx, token)" + strings.TrimSuffix(goFailed, "\n"), "", "await sepad.cancelSession(token);"},
	"retrieveSessionResult": {
		"result, err := client.Result(ctx, token)" + goFailed + "fmt.Println(result.Status, result.PaymentInFlight)", "",
		"const result = await sepad.result(token);\nconsole.log(result.status, result.payment_in_flight);",
	},
	"validateIban": {
		"check, err := client.ValidateIBAN(ctx, \"DE89370400440532013000\")" + goFailed + "fmt.Println(check.Valid, check.BankName)", "",
		"const check = await sepad.validateIban(\"DE89370400440532013000\");\nconsole.log(check.valid);",
	},
	"retrieveTransaction": {
		"transaction, err := client.Transaction(ctx, id)" + goFailed + "fmt.Println(transaction.Status)", "",
		"const transaction = await sepad.transaction(id);\nconsole.log(transaction.status);",
	},
	"refundTransaction": {
		"refund, err := client.Refund(ctx, id, %s)" + goFailed + "fmt.Println(refund.Status)", "RefundRequest",
		"const refund = await sepad.refund(id, %s);\nconsole.log(refund.status);",
	},
	"retrieveSubscription": {
		"subscription, err := client.Subscription(ctx, id)" + goFailed + "fmt.Println(subscription.NextBillingDate)", "",
		"const subscription = await sepad.subscription(id);\nconsole.log(subscription.next_billing_date);",
	},
	"cancelSubscription": {
		"subscription, err := client.CancelSubscription(ctx, id, sepad.PeriodEnd)" + goFailed + "fmt.Println(subscription.EndsOn)", "",
		"const subscription = await sepad.cancelSubscription(id, \"period_end\");\nconsole.log(subscription.ends_on);",
	},
	"pauseSubscription": {
		"subscription, err := client.PauseSubscription(ctx, id)" + goFailed + "fmt.Println(subscription.PausedAt)", "",
		"const subscription = await sepad.pauseSubscription(id);\nconsole.log(subscription.paused_at);",
	},
	"resumeSubscription": {
		"subscription, err := client.ResumeSubscription(ctx, id)" + goFailed + "fmt.Println(subscription.NextBillingDate)", "",
		"const subscription = await sepad.resumeSubscription(id);\nconsole.log(subscription.next_billing_date);",
	},
	"changeSubscription": {
		"subscription, err := client.ChangeSubscription(ctx, id, %s)" + goFailed + "fmt.Println(subscription.BillingAmount)", "Terms",
		"const subscription = await sepad.changeSubscription(id, %s);\nconsole.log(subscription.billing_amount);",
	},
	"newMandate": {
		"created, err := client.NewMandate(ctx, id, %s)" + goFailed + "fmt.Println(created.PaymentURL)", "SessionOptions",
		"const created = await sepad.newMandate(id, %s);\nconsole.log(created.payment_url);",
	},
	"retrieveMandate": {
		"mandate, err := client.Mandate(ctx, reference)" + goFailed + "fmt.Println(len(mandate.Acceptances))", "",
		"const mandate = await sepad.mandate(reference);\nconsole.log(mandate.acceptances.length);",
	},
	"listEvents": {
		"feed := client.Events(place)\nfor event, err := range feed.All(ctx) {\n" + goLoop + "\tfmt.Println(event.Type, feed.Place())\n}", "",
		"const feed = sepad.events(place);\nfor await (const event of feed) {\n  console.log(event.type, feed.place);\n}",
	},
	"retrieveEvent": { // the libraries read the feed
		"for event, err := range client.Events(\"\").All(ctx) {\n" + goLoop + "\tif event.ID == id {\n\t\tfmt.Println(event.Type)\n\t}\n}", "",
		"for await (const event of sepad.events()) {\n  if (event.id === id) console.log(event.type);\n}",
	},
	"listTransactions": {
		"for transaction, err := range client.Transactions(ctx, sepad.Days{From: from}) {\n" + goLoop + "\tfmt.Println(transaction.ID, transaction.Status)\n}", "",
		"for await (const transaction of sepad.transactions({ start_date: \"2026-03-01\" })) {\n  console.log(transaction.id, transaction.status);\n}",
	},
	"listChargebacks": {
		"for chargeback, err := range client.Chargebacks(ctx, sepad.Days{From: from}) {\n" + goLoop + "\tfmt.Println(chargeback.ID, chargeback.ReasonCode)\n}", "",
		"for await (const chargeback of sepad.chargebacks({ start_date: \"2026-03-01\" })) {\n  console.log(chargeback.id, chargeback.reason_code);\n}",
	},
	"listSubscriptions": {
		"for subscription, err := range client.Subscriptions(ctx, sepad.Days{From: from}) {\n" + goLoop + "\tfmt.Println(subscription.ID, subscription.Status)\n}", "",
		"for await (const subscription of sepad.subscriptions({ start_date: \"2026-03-01\" })) {\n  console.log(subscription.id, subscription.status);\n}",
	},
}

func (c libraryCall) inGo(publicURL string, body node) string {
	return `client := sepad.New("` + publicURL + `", os.Getenv("API_KEY"))` + "\n" +
		strings.Replace(c.inGoText, "%s", goLiteral(c.goBody, body, 0), 1)
}

func (c libraryCall) inTypeScript(publicURL string, body node) string {
	return `const sepad = new Sepad("` + publicURL + `", process.env.API_KEY);` + "\n" +
		strings.Replace(c.inTypeScriptText, "%s", writeLiteral(body, 0, scriptNotation), 1)
}
