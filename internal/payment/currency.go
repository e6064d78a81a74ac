package payment

// currencyCodes are the active currencies of ISO 4217, a row for each first letter. Left out are the codes in which nobody
// can pay: precious metals, units of account and funds, the test code and "no currency".
const currencyCodes = "" +
	"AED AFN ALL AMD AOA ARS AUD AWG AZN " +
	"BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD " +
	"CAD CDF CHF CLP CNY COP CRC CUP CVE CZK " +
	"DJF DKK DOP DZD " +
	"EGP ERN ETB EUR " +
	"FJD FKP " +
	"GBP GEL GHS GIP GMD GNF GTQ GYD " +
	"HKD HNL HTG HUF " +
	"IDR ILS INR IQD IRR ISK " +
	"JMD JOD JPY " +
	"KES KGS KHR KMF KPW KRW KWD KYD KZT " +
	"LAK LBP LKR LRD LSL LYD " +
	"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN " +
	"NAD NGN NIO NOK NPR NZD " +
	"OMR " +
	"PAB PEN PGK PHP PKR PLN PYG " +
	"QAR " +
	"RON RSD RUB RWF " +
	"SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL " +
	"THB TJS TMT TND TOP TRY TTD TWD TZS " +
	"UAH UGX USD UYU UZS " +
	"VED VES VND VUV " +
	"WST " +
	"XAF XCD XCG XOF XPF " +
	"YER " +
	"ZAR ZMW ZWG"

var knownCurrencies = codeSet(currencyCodes)

// KnownCurrency tells whether an upper-case code is an active currency of ISO 4217.
func KnownCurrency(code string) bool { return knownCurrencies[code] }
