// Command reasonsdoc writes docs/reason-codes.md from the table of reason codes,
// so that the page cannot tell anything else than the code does.
//
//	go generate ./internal/sepa/reasonsdoc
package main

import (
	"fmt"
	"os"
	"strings"

	"sepad/internal/sepa"
)

//go:generate go run .

// file is seen from here, where go generate runs.
const file = "../../../docs/reason-codes.md"

func main() {
	if err := os.WriteFile(file, []byte(render()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "reasonsdoc:", err)
		os.Exit(1)
	}
}

const intro = `# Reason codes

Generated from ` + "`internal/sepa/reason_table.go`" + ` by ` + "`go generate ./internal/sepa/reasonsdoc`" + `; do not edit.

When a bank refuses a debit, or sends money back, it says why with a code of ISO 20022. This is what each one
means here: on whose side the reason lies, the ` + "`error_details.code`" + ` that merchants and payers are told, and what
follows for the subscription whose debit it was.

| follows | what happens |
|---|---|
| ` + "`retry`" + ` | A failed billing: the subscription is ` + "`PAST_DUE`" + ` and the same period is tried again. |
| ` + "`end`" + ` | Nothing can be collected any more: the subscription is cancelled. |
| ` + "`claim`" + ` | The payer took the money back: the subscription is cancelled, unless deployment or campaign keep such ones. |
| ` + "`creditor`" + ` | Our own mistake: no subscription changes, the gateway account's rebills wait, the operator is alerted. |
| ` + "`unsaid`" + ` | The code does not tell: ` + "`retry`" + ` when the debit was refused, ` + "`claim`" + ` when collected money came back. |

A code that is not listed is ` + "`unknown`" + ` and ` + "`unsaid`" + `.

| code | meaning | side | ` + "`error_details.code`" + ` | follows |
|---|---|---|---|---|
`

func render() string {
	var b strings.Builder
	b.WriteString(intro)
	for _, reason := range sepa.Reasons() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | `%s` |\n", reason.Code, reason.Meaning, reason.Side, reason.Decline, reason.Follows)
	}
	return b.String()
}
