package banking_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

// Banks name accounts in their words about a payment. Merchants and whoever looks at payments are shown them without.
func TestABanksWordsNameNoAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		refused, back := b.pay(t, apptest.Approved), b.pay(t, apptest.PendingApproved)
		b.cutOff(t)
		words := func(iban string) string {
			return "Konto " + iban + " erloschen, IBAN: " + strings.ToLower(iban[:6]) + " " + iban[6:]
		}
		because := func(element, iban string) string {
			return fmt.Sprintf("<%[1]s><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>%[2]s</AddtlInf></%[1]s>", element, words(iban))
		}
		b.read(t, fmt.Sprintf(`<Document><CstmrPmtStsRpt><GrpHdr><MsgId>W-1</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>%s</OrgnlMsgId></OrgnlGrpInfAndSts>
			<OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>%s</OrgnlEndToEndId><TxSts>RJCT</TxSts>%s</TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`,
			b.underWay(t).MessageID, b.statusOf(t, refused).MerchantTransactionID, because("StsRsnInf", apptest.Approved)))
		b.read(t, fmt.Sprintf(`<Document><BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct><Ntry><Amt Ccy="EUR">49.00</Amt>
			<CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt><NtryDtls><TxDtls><Refs><EndToEndId>%s</EndToEndId></Refs>
			<RmtInf><Ustrd>%s</Ustrd></RmtInf>%s</TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>`,
			b.statusOf(t, back).MerchantTransactionID, words(apptest.PendingApproved), because("RtrInf", apptest.PendingApproved)))
		b.wantStatus(t, refused, "declined")
		b.wantStatus(t, back, "charged_back")
		for path, key := range map[string]string{
			"/api/v1/events/": s.Key, "/api/v1/transactions/" + refused + "/": s.Key,
			"/admin/v1/transactions/" + refused + "/timeline/": apptest.AdminToken, "/admin/v1/transactions/" + back + "/timeline/": apptest.AdminToken,
			"/admin/v1/bank-entries/": apptest.AdminToken, "/admin/v1/chargebacks/": apptest.AdminToken,
		} {
			text := string(s.Do(t, apptest.Request{Method: http.MethodGet, Path: path, Key: key}).Want(t, http.StatusOK, nil).Raw)
			plain := strings.ToUpper(strings.ReplaceAll(text, " ", ""))
			if strings.Contains(plain, apptest.Approved) || strings.Contains(plain, apptest.PendingApproved) {
				t.Errorf("%s names an account: %s", path, text)
			}
			if strings.HasPrefix(path, "/admin/") && !strings.Contains(text, " erloschen, IBAN: ") {
				t.Errorf("%s lost the bank's words: %s", path, text)
			}
		}
	})
}
