package iso20022

// spelling says how letters that are no letter with an accent are written in basic Latin. Latin letters follow the
// table of machine-readable travel documents (ICAO 9303, part 3), in which people of these languages know their own
// names; Cyrillic follows the Bulgarian law on transliteration, Bulgaria being in the euro, with the letters of other
// alphabets by their own countries' rules. Capitals are derived.
var spelling = map[rune]string{
	'ä': "ae", 'ö': "oe", 'ü': "ue", 'ß': "ss", 'å': "aa", 'æ': "ae", 'ø': "oe", 'œ': "oe", 'ĳ': "ij",
	'ð': "d", 'đ': "d", 'þ': "th", 'ł': "l", 'ħ': "h", 'ŋ': "n", 'ŧ': "t", 'ı': "i", 'ĸ': "q", 'ſ': "s", 'ə': "e", 'ŀ': "l",
	'ƶ': "z", 'ɓ': "b", 'ɗ': "d", 'ƙ': "k",

	'а': "a", 'б': "b", 'в': "v", 'г': "g", 'д': "d", 'е': "e", 'ж': "zh", 'з': "z", 'и': "i", 'й': "y", 'к': "k",
	'л': "l", 'м': "m", 'н': "n", 'о': "o", 'п': "p", 'р': "r", 'с': "s", 'т': "t", 'у': "u", 'ф': "f", 'х': "h",
	'ц': "ts", 'ч': "ch", 'ш': "sh", 'щ': "sht", 'ъ': "a", 'ь': "y", 'ю': "yu", 'я': "ya",
	'ё': "e", 'ы': "y", 'э': "e", 'і': "i", 'ї': "i", 'є': "ie", 'ґ': "g", 'ў': "u",
	'ђ': "dj", 'ј': "j", 'љ': "lj", 'њ': "nj", 'ћ': "c", 'џ': "dz", 'ѓ': "gj", 'ќ': "kj", 'ѕ': "dz",

	'&': "+", '_': "-", ';': ",", '!': ".", '@': "(at)", '"': "'", '`': "'", '´': "'", '*': ".", '[': "(", ']': ")",
	'{': "(", '}': ")", '<': "(", '>': ")", '\\': "/", '|': "/", '~': "-", '=': "-", '#': "No.", '%': "pct",
	'‘': "'", '’': "'", '‚': "'", '‛': "'", 'ʼ': "'", 'ʹ': "'", '“': "'", '”': "'", '„': "'", '«': "'", '»': "'", '‹': "'", '›': "'",
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-", '…': "...", '·': ".", '•': "-", '×': "x", '÷': ":",
	'€': "EUR", '£': "GBP", '$': "USD", '§': "par.", '¿': "?", '¡': ".", '°': "o", '№': "No.", '⁄': "/",
}
