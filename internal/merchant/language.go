package merchant

// Languages are those of the hosted page, by their codes.
var Languages = []string{"en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da", "fi", "cs", "sk", "sl", "hr", "ro"}
