package iso20022

import (
	"cmp"
	"slices"
	"strconv"
)

// settleAmounts says what each line is worth and what the bank took for itself. A returned debit of 50.00 with 3.00 of
// charges may be booked as 53.00 with both named, as 53.00 with only 50.00 named, as 50.00 with the charges booked
// elsewhere, or as 53.00 with the charges alone.
func (entry *Entry) settleAmounts(e *element) {
	var details []*element
	count := 0 // of all groups, each of which may count its own
	for _, group := range e.all("NtryDtls") {
		listed := group.all("TxDtls")
		details = append(details, listed...)
		own, err := strconv.Atoi(group.value("Btch", "NbOfTxs"))
		if err != nil {
			own = 0 // what is no number tells nothing
		}
		count += max(own, len(listed))
	}
	isAlone, isShort := len(entry.Lines) == 1, entry.isShort(len(details), count)
	for i := range entry.Lines {
		line := &entry.Lines[i]
		source := e
		if i < len(details) {
			source = details[i]
		}
		included, apart := readCharges(source)
		if isAlone && included == 0 && apart == 0 {
			included, apart = readCharges(e)
		}
		line.ChargesMinor, line.chargesInside = included+apart, included
		entry.settleLine(line, source, e, isAlone && !isShort)
	}
	entry.explain()
	if isShort && (entry.IsUnexplained || entry.ChargesMinor > 0) && entry.Problem == "" {
		entry.Problem = "The booking is of " + strconv.Itoa(count) + " payments that came back, and not all of them are listed."
	}
}

// isShort tells a booking of payments that came back of which the bank lists some: what the others come to is not its charges.
func (entry *Entry) isShort(listed, count int) bool {
	isReturned := func(l Line) bool { return l.Kind == Returned }
	return listed > 0 && count > listed && slices.ContainsFunc(entry.Lines, isReturned)
}

// settleLine finds the line's own amount: what was instructed, else what was moved, else what the details say, else,
// for a booking of one payment, the booking less the charges in it.
func (entry *Entry) settleLine(line *Line, details, e *element, isAlone bool) {
	candidates := []money{
		readMoney(details.find("AmtDtls", "InstdAmt", "Amt")), readMoney(details.find("AmtDtls", "TxAmt", "Amt")),
	}
	if details != e {
		candidates = append(candidates, readMoney(details.find("Amt")))
	}
	if isAlone {
		candidates = append(candidates, readMoney(e.find("AmtDtls", "InstdAmt", "Amt")), readMoney(e.find("AmtDtls", "TxAmt", "Amt")),
			money{minor: entry.AmountMinor - line.chargesInside, currency: entry.Currency, ok: entry.Problem == ""})
	}
	amount := choose(candidates, entry.Currency)
	line.AmountMinor, line.HasAmount, line.Currency = amount.minor, amount.ok, cmp.Or(amount.currency, entry.Currency)
	// Charges that are in the booking but not named are what is left of it.
	if left := entry.AmountMinor - amount.minor; isAlone && line.ChargesMinor == 0 && line.Kind == Returned && left > 0 &&
		line.Currency == entry.Currency {
		line.ChargesMinor, line.chargesInside = left, left
	}
}

// choose takes the first amount in the account's currency, else the first at all: an instructed amount in francs is not
// what a euro account lost.
func choose(candidates []money, currency string) money {
	for _, m := range candidates {
		if m.ok && (m.currency == currency || m.currency == "") {
			return m
		}
	}
	for _, m := range candidates {
		if m.ok {
			return m
		}
	}
	return money{}
}

// readCharges sums the charges that are in the amount of the booking, and those that are booked apart. Older versions
// have one Chrgs for each charge, newer ones one with records and a total; a credit gives some back.
func readCharges(e *element) (included, apart int64) {
	for _, charges := range e.all("Chrgs") {
		records := charges.all("Rcrd")
		if len(records) == 0 {
			records = []*element{charges}
		}
		for _, record := range records {
			amount := readMoney(record.find("Amt"))
			if !amount.ok {
				amount = readMoney(charges.find("TtlChrgsAndTaxAmt"))
			}
			if record.value("CdtDbtInd") == creditMark {
				amount.minor = -amount.minor
			}
			if inside := record.find("ChrgInclInd"); inside != nil && !isTrue(inside.text) {
				apart += amount.minor
			} else {
				included += amount.minor
			}
		}
	}
	return included, apart
}

// explain holds the lines and their charges against the booking: what is left beyond them is the bank's, or not
// understood.
func (entry *Entry) explain() {
	var left int64 // what the account gained beyond what the lines explain
	if left = entry.AmountMinor; !entry.IsCredit {
		left = -left
	}
	for i := range entry.Lines {
		line := &entry.Lines[i]
		if !line.HasAmount || line.Currency != entry.Currency {
			entry.IsUnexplained = true
			return
		}
		if line.IsCredit {
			left -= line.AmountMinor
		} else {
			left += line.AmountMinor
		}
		left += line.chargesInside
	}
	if left > 0 {
		entry.IsUnexplained = true
		return
	}
	entry.ChargesMinor = -left
}
