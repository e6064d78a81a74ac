package letter

// texts is everything that a mail says, in one language. Words in braces are
// filled in; a test holds every language to the same braces. The labels are those
// of the payment page.
type texts struct {
	Subject, SubjectMoved string
	Title, TitleMoved     string
	Intro, IntroMoved     string
	// Cover asks for money on the account; Refund is the payer's right; Ask says whom
	// to write to, and Why there is a mail.
	Cover, Refund, Ask, Why                  string
	Amount, DebitDate, Account               string
	Creditor, Identifier, Reference, Product string
}

// tongues are the words of each language.
var tongues = map[string]*texts{
	"en": &english,
	"de": &german,
	"fr": &french,
	"es": &spanish,
	"it": &italian,
	"nl": &dutch,
	"pt": &portuguese,
	"pl": &polish,
	"sv": &swedish,
	"da": &danish,
	"fi": &finnish,
	"cs": &czech,
	"sk": &slovak,
	"sl": &slovenian,
	"hr": &croatian,
	"ro": &romanian,
}

var (
	english = texts{
		Subject:      "{merchant}: {amount} will be debited on {date}",
		SubjectMoved: "{merchant}: {amount} will be debited on {date} instead",
		Title:        "A direct debit is coming up",
		TitleMoved:   "Your direct debit has another date",
		Intro:        "{creditor} will collect {amount} from your account ending in {last4} on {date}, by SEPA direct debit.",
		IntroMoved:   "The debit by {creditor} could not be made on the day we told you. {amount} will be collected from your account ending in {last4} on {date} instead.",
		Cover:        "Please see to it that the account has enough money on that day. There is nothing else for you to do.",
		Refund:       "You can have this debit returned by your bank within eight weeks of the debit date, without giving a reason.",
		Ask:          "Do you have a question, or is something wrong? Write to {contact}.",
		Why:          "You receive this message because you have given {creditor} a direct debit mandate: payers are told before their account is debited.",
		Amount:       "Amount",
		DebitDate:    "Debit date",
		Account:      "Account",
		Creditor:     "Creditor",
		Identifier:   "Creditor identifier",
		Reference:    "Mandate reference",
		Product:      "Product",
	}
	german = texts{
		Subject:      "{merchant}: Abbuchung von {amount} am {date}",
		SubjectMoved: "{merchant}: Abbuchung von {amount} nun am {date}",
		Title:        "Ihre nächste Abbuchung",
		TitleMoved:   "Ihre Abbuchung hat ein neues Datum",
		Intro:        "{creditor} zieht am {date} den Betrag von {amount} per SEPA-Lastschrift von Ihrem Konto mit den Endziffern {last4} ein.",
		IntroMoved:   "Die Abbuchung durch {creditor} war am angekündigten Tag nicht möglich. Der Betrag von {amount} wird nun am {date} von Ihrem Konto mit den Endziffern {last4} eingezogen.",
		Cover:        "Bitte sorgen Sie dafür, dass das Konto an diesem Tag gedeckt ist. Sonst brauchen Sie nichts zu tun.",
		Refund:       "Innerhalb von acht Wochen ab dem Tag der Abbuchung erstattet Ihre Bank den Betrag auf Wunsch, ohne Angabe von Gründen.",
		Ask:          "Haben Sie eine Frage, oder stimmt etwas nicht? Schreiben Sie an {contact}.",
		Why:          "Sie erhalten diese Nachricht, weil Sie {creditor} ein Lastschriftmandat erteilt haben: Jede Abbuchung wird vorher angekündigt.",
		Amount:       "Betrag",
		DebitDate:    "Abbuchung am",
		Account:      "Konto",
		Creditor:     "Zahlungsempfänger",
		Identifier:   "Gläubiger-Identifikationsnummer",
		Reference:    "Mandatsreferenz",
		Product:      "Produkt",
	}
	french = texts{
		Subject:      "{merchant} : prélèvement de {amount} le {date}",
		SubjectMoved: "{merchant} : prélèvement de {amount} reporté au {date}",
		Title:        "Votre prochain prélèvement",
		TitleMoved:   "La date de votre prélèvement a changé",
		Intro:        "{creditor} prélèvera {amount} le {date} sur votre compte se terminant par {last4}, par prélèvement SEPA.",
		IntroMoved:   "Le prélèvement de {creditor} n’a pas pu être effectué à la date annoncée. Le montant de {amount} sera prélevé le {date} sur votre compte se terminant par {last4}.",
		Cover:        "Veillez à ce que le compte soit suffisamment approvisionné ce jour-là. Vous n’avez rien d’autre à faire.",
		Refund:       "Dans les huit semaines suivant la date du débit, votre banque vous rembourse ce prélèvement sur demande, sans motif.",
		Ask:          "Une question, ou quelque chose ne va pas ? Écrivez à {contact}.",
		Why:          "Vous recevez ce message parce que vous avez signé un mandat de prélèvement en faveur de {creditor} : chaque prélèvement est annoncé à l’avance.",
		Amount:       "Montant",
		DebitDate:    "Date du débit",
		Account:      "Compte",
		Creditor:     "Créancier",
		Identifier:   "Identifiant créancier SEPA (ICS)",
		Reference:    "Référence unique du mandat (RUM)",
		Product:      "Produit",
	}
	spanish = texts{
		Subject:      "{merchant}: cargo de {amount} el {date}",
		SubjectMoved: "{merchant}: cargo de {amount} aplazado al {date}",
		Title:        "Su próximo cargo",
		TitleMoved:   "Su cargo tiene otra fecha",
		Intro:        "{creditor} cobrará {amount} el {date} en su cuenta terminada en {last4}, mediante adeudo directo SEPA.",
		IntroMoved:   "El cargo de {creditor} no pudo hacerse en la fecha anunciada. El importe de {amount} se cobrará el {date} en su cuenta terminada en {last4}.",
		Cover:        "Asegúrese de que la cuenta tenga saldo suficiente ese día. No tiene que hacer nada más.",
		Refund:       "Durante las ocho semanas siguientes a la fecha del cargo, su banco se lo devuelve si lo pide, sin indicar motivos.",
		Ask:          "¿Tiene alguna pregunta o hay algo que no cuadra? Escriba a {contact}.",
		Why:          "Recibe este mensaje porque ha dado a {creditor} una orden de domiciliación: cada cargo se anuncia antes.",
		Amount:       "Importe",
		DebitDate:    "Fecha del cargo",
		Account:      "Cuenta",
		Creditor:     "Acreedor",
		Identifier:   "Identificador del acreedor",
		Reference:    "Referencia de la orden de domiciliación",
		Product:      "Producto",
	}
	italian = texts{
		Subject:      "{merchant}: addebito di {amount} il {date}",
		SubjectMoved: "{merchant}: addebito di {amount} rinviato al {date}",
		Title:        "Il Suo prossimo addebito",
		TitleMoved:   "Il Suo addebito ha un’altra data",
		Intro:        "{creditor} addebiterà {amount} il {date} sul Suo conto che termina con {last4}, tramite addebito diretto SEPA.",
		IntroMoved:   "L’addebito di {creditor} non è stato possibile nel giorno annunciato. L’importo di {amount} sarà addebitato il {date} sul Suo conto che termina con {last4}.",
		Cover:        "La preghiamo di verificare che quel giorno il conto sia coperto. Non deve fare altro.",
		Refund:       "Entro otto settimane dalla data dell’addebito la Sua banca Le rimborsa l’importo su richiesta, senza indicarne il motivo.",
		Ask:          "Ha una domanda o qualcosa non va? Scriva a {contact}.",
		Why:          "Riceve questo messaggio perché ha dato a {creditor} un mandato di addebito diretto: ogni addebito viene annunciato prima.",
		Amount:       "Importo",
		DebitDate:    "Data dell’addebito",
		Account:      "Conto",
		Creditor:     "Creditore",
		Identifier:   "Codice identificativo del creditore",
		Reference:    "Riferimento del mandato (UMR)",
		Product:      "Prodotto",
	}
	dutch = texts{
		Subject:      "{merchant}: {amount} wordt op {date} afgeschreven",
		SubjectMoved: "{merchant}: {amount} wordt nu op {date} afgeschreven",
		Title:        "Uw volgende afschrijving",
		TitleMoved:   "Uw afschrijving heeft een andere datum",
		Intro:        "{creditor} schrijft op {date} {amount} af van uw rekening eindigend op {last4}, via SEPA-incasso.",
		IntroMoved:   "De afschrijving door {creditor} lukte niet op de aangekondigde dag. {amount} wordt nu op {date} afgeschreven van uw rekening eindigend op {last4}.",
		Cover:        "Zorg ervoor dat er die dag genoeg saldo op de rekening staat. Verder hoeft u niets te doen.",
		Refund:       "Binnen acht weken na de afschrijving boekt uw bank het bedrag op verzoek terug, zonder opgave van reden.",
		Ask:          "Hebt u een vraag of klopt er iets niet? Schrijf naar {contact}.",
		Why:          "U ontvangt dit bericht omdat u {creditor} een incassomachtiging hebt gegeven: elke afschrijving wordt vooraf aangekondigd.",
		Amount:       "Bedrag",
		DebitDate:    "Afschrijving op",
		Account:      "Rekening",
		Creditor:     "Incassant",
		Identifier:   "Incassant-ID",
		Reference:    "Kenmerk machtiging",
		Product:      "Product",
	}
	portuguese = texts{
		Subject:      "{merchant}: débito de {amount} em {date}",
		SubjectMoved: "{merchant}: débito de {amount} adiado para {date}",
		Title:        "O seu próximo débito",
		TitleMoved:   "O seu débito tem outra data",
		Intro:        "{creditor} cobrará {amount} em {date} da sua conta terminada em {last4}, por débito direto SEPA.",
		IntroMoved:   "O débito de {creditor} não foi possível no dia anunciado. O montante de {amount} será cobrado em {date} da sua conta terminada em {last4}.",
		Cover:        "Certifique-se de que a conta tem saldo suficiente nesse dia. Não precisa de fazer mais nada.",
		Refund:       "Nas oito semanas seguintes à data do débito, o seu banco devolve-lhe o montante a pedido, sem indicar motivo.",
		Ask:          "Tem alguma pergunta ou algo não está certo? Escreva para {contact}.",
		Why:          "Recebe esta mensagem porque deu a {creditor} uma autorização de débito direto: cada débito é anunciado antes.",
		Amount:       "Montante",
		DebitDate:    "Data do débito",
		Account:      "Conta",
		Creditor:     "Credor",
		Identifier:   "Identificação do credor",
		Reference:    "Referência da autorização (ADD)",
		Product:      "Produto",
	}
	polish = texts{
		Subject:      "{merchant}: obciążenie na kwotę {amount} dnia {date}",
		SubjectMoved: "{merchant}: obciążenie na kwotę {amount} dopiero {date}",
		Title:        "Najbliższe obciążenie rachunku",
		TitleMoved:   "Obciążenie ma nową datę",
		Intro:        "{creditor} pobierze {amount} dnia {date} z Twojego rachunku kończącego się na {last4} w drodze polecenia zapłaty SEPA.",
		IntroMoved:   "Obciążenie przez {creditor} nie było możliwe w zapowiedzianym dniu. Kwota {amount} zostanie pobrana dnia {date} z Twojego rachunku kończącego się na {last4}.",
		Cover:        "Prosimy zadbać, aby tego dnia na rachunku były wystarczające środki. Nic więcej nie trzeba robić.",
		Refund:       "W ciągu ośmiu tygodni od dnia obciążenia bank zwróci kwotę na żądanie, bez podawania przyczyny.",
		Ask:          "Masz pytanie lub coś się nie zgadza? Napisz do {contact}.",
		Why:          "Otrzymujesz tę wiadomość, ponieważ {creditor} ma od Ciebie zgodę na polecenie zapłaty: każde obciążenie jest wcześniej zapowiadane.",
		Amount:       "Kwota",
		DebitDate:    "Data obciążenia",
		Account:      "Rachunek",
		Creditor:     "Wierzyciel",
		Identifier:   "Identyfikator wierzyciela",
		Reference:    "Unikalne referencje zgody",
		Product:      "Produkt",
	}
)
