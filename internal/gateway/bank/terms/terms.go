// Package terms is what a merchant has agreed with its bank: who collects to which account, what the bank's files may
// hold, when they must be there and where they are put. The settings of a gateway account are declared here as a table
// and read into Terms, which then answer the questions of the calendar: when the next file is written, when its
// collections are due, and from when silence means that the money has come.
package terms

import (
	"cmp"
	"errors"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the bank's time zone is needed where the machine knows none

	"sepad/internal/gateway"
	"sepad/internal/iso20022"
	"sepad/internal/merchant"
	"sepad/internal/sepa"
)

// Terms are the settings of an account at a bank.
type Terms struct {
	Creditor   iso20022.Creditor
	Descriptor string
	Format     iso20022.Format
	// FirstSequence is how the first collection of a series is marked.
	FirstSequence string
	// CutOff is how long after midnight in Zone a file must be at the bank.
	CutOff time.Duration
	Zone   *time.Location
	// LeadDays are the business days from the file to its due date, SettleDays those after it after which silence means
	// that the money has come.
	LeadDays, SettleDays int
	// NoticeDays are the calendar days from when the payer is told to the due date.
	NoticeDays int
	Rules
	Folder string
	// SFTP is where files go instead of a folder, nil for a folder.
	SFTP *SFTP
	// ReferencePattern finds our id in what a bank writes that changes it, nil for none.
	ReferencePattern *regexp.Regexp
}

// SFTP is a bank's server for files.
type SFTP struct {
	Host           string
	Port           int
	User           string
	PrivateKeyFile string
	HostKey        string
	Out, In        string
}

// Settings is the table of what an account can be told.
var Settings = []gateway.Setting{
	{Name: "creditor_name", Type: gateway.SettingText, Help: "Who collects; the tenant's creditor when not given."},
	{Name: "creditor_identifier", Type: gateway.SettingText, Help: "The creditor identifier; the tenant's when not given.", Check: checkCreditorIdentifier},
	{Name: "account_iban", Type: gateway.SettingText, Required: true, Help: "The account to which the money is collected.", Check: checkIBAN},
	{Name: "account_bic", Type: gateway.SettingText, Help: "The BIC of that account's bank, if it asks for it.", Check: checkBIC},
	{Name: "format", Type: gateway.SettingText, Choices: formats(), Help: "The version of the message; the profile's when not given."},
	{Name: "first_sequence", Type: gateway.SettingText, Choices: []string{"RCUR", "FRST"}, Default: "RCUR", Help: "How the first collection of a series is marked."},
	{Name: "cut_off", Type: gateway.SettingText, Default: "11:00", Help: "When a file must be at the bank, as hours and minutes.", Check: checkCutOff},
	{Name: "time_zone", Type: gateway.SettingText, Default: "Europe/Berlin", Help: "The time zone of the cut-off.", Check: checkZone},
	{Name: "lead_days", Type: gateway.SettingNumber, Default: 1, Low: 1, High: 14, Help: "Business days from the file to its due date."},
	{Name: "notice_days", Type: gateway.SettingNumber, Default: 2, Low: 1, High: 14, Help: "Calendar days between the pre-notification and the due date."},
	{Name: "settle_days", Type: gateway.SettingNumber, Default: 3, Low: 1, High: 30, Help: "Business days after the due date after which silence means that the money has come."},
	{Name: "profile", Type: gateway.SettingText, Choices: profileNames(), Default: generic, Help: "What a bank is known to force; each point can be set apart."},
	{Name: "batch_booking", Type: gateway.SettingFlag, Default: true, Help: "Ask for one booking of a whole block."},
	{Name: "max_entries", Type: gateway.SettingNumber, Low: 0, High: 1_000_000, Help: "Collections in a file; more go into further files. 0 is what the profile says."},
	{Name: "max_bytes", Type: gateway.SettingNumber, Low: 0, High: 1 << 30, Help: "Bytes of a file. 0 is what the profile says."},
	{Name: "one_due_date_per_file", Type: gateway.SettingFlag, Help: "Put collections of different days into different files."},
	{Name: "creditor_scheme_name", Type: gateway.SettingFlag, Default: true, Help: "Repeat the name beside the creditor identifier."},
	{Name: "zip", Type: gateway.SettingFlag, Help: "Deliver the file in a zip."},
	{Name: "folder", Type: gateway.SettingText, Place: true, Help: "The folder with out, in, done and failed below it.", Check: checkFolder},
	{Name: "sftp", Type: gateway.SettingObject, Place: true, Help: "The bank's server for files, in place of a folder.", Fields: []gateway.Setting{
		{Name: "host", Type: gateway.SettingText, Required: true, Help: "Its name."},
		{Name: "port", Type: gateway.SettingNumber, Default: 22, Low: 1, High: 65535, Help: "Its port."},
		{Name: "user", Type: gateway.SettingText, Required: true, Help: "Who logs in."},
		{Name: "private_key_file", Type: gateway.SettingText, Required: true, Help: "The file with the key that logs in."},
		{Name: "host_key", Type: gateway.SettingText, Required: true, Help: "The server's public key, as in known_hosts: ssh-ed25519 AAAA…", Check: checkHostKey},
		{Name: "out", Type: gateway.SettingText, Default: "/out", Help: "Where files are put."},
		{Name: "in", Type: gateway.SettingText, Default: "/in", Help: "Where answers are fetched."},
	}},
	{Name: "reference_pattern", Type: gateway.SettingText, Help: "A regular expression that finds our id in the text of a bank that rewrites it.", Check: checkPattern},
}

func formats() (names []string) {
	for _, format := range iso20022.DebitFormats {
		names = append(names, string(format))
	}
	return names
}

// Read makes the terms of an account from its checked settings.
func Read(account gateway.Account, v gateway.Values) (*Terms, error) {
	t := &Terms{Descriptor: account.Descriptor, FirstSequence: v.Text("first_sequence"), LeadDays: v.Number("lead_days"), NoticeDays: v.Number("notice_days"), SettleDays: v.Number("settle_days"), Folder: v.Text("folder")}
	var err error
	if t.Creditor.Account, err = sepa.ParseIBAN(v.Text("account_iban")); err != nil {
		return nil, &gateway.SettingError{Setting: "account_iban", Sentence: err.Error()}
	}
	t.Creditor.Name, t.Creditor.Identifier, t.Creditor.BIC = v.Text("creditor_name"), v.Text("creditor_identifier"), v.Text("account_bic")
	if t.CutOff, err = readCutOff(v.Text("cut_off")); err != nil {
		return nil, &gateway.SettingError{Setting: "cut_off", Sentence: err.Error()}
	}
	if t.Zone, err = time.LoadLocation(v.Text("time_zone")); err != nil {
		return nil, &gateway.SettingError{Setting: "time_zone", Sentence: err.Error()}
	}
	if pattern := v.Text("reference_pattern"); pattern != "" {
		t.ReferencePattern = regexp.MustCompile(pattern) // its check has compiled it
	}
	t.readRules(account, v)
	return t, t.readPlace(v)
}

// readRules takes the profile, and over it what is set apart.
func (t *Terms) readRules(account gateway.Account, v gateway.Values) {
	t.Rules = profileOf(v.Text("profile")).Rules
	t.Format = iso20022.Format(cmp.Or(v.Text("format"), string(t.Rules.DefaultFormat)))
	t.MaxEntries = cmp.Or(v.Number("max_entries"), t.MaxEntries)
	t.MaxBytes = cmp.Or(v.Number("max_bytes"), t.MaxBytes)
	for name, rule := range map[string]*bool{
		"batch_booking": &t.BatchBooking, "one_due_date_per_file": &t.OneDueDate, "creditor_scheme_name": &t.SchemeName, "zip": &t.Zip,
	} {
		if _, isGiven := account.Settings[name]; isGiven {
			*rule = v.Flag(name)
		}
	}
	t.Creditor.NameWithIdentifier = t.SchemeName
}

func (t *Terms) readPlace(v gateway.Values) error {
	server, isGiven := v.Object("sftp")
	if isGiven == (t.Folder != "") {
		return &gateway.SettingError{Setting: "folder", Sentence: "Give either folder or sftp."}
	}
	if isGiven {
		t.SFTP = &SFTP{
			Host: server.Text("host"), Port: server.Number("port"), User: server.Text("user"), PrivateKeyFile: server.Text("private_key_file"),
			HostKey: server.Text("host_key"), Out: server.Text("out"), In: server.Text("in"),
		}
	}
	return nil
}

// Inbox names where the bank's answers are fetched, alike for all accounts that fetch them there.
func (t *Terms) Inbox() string {
	if t.SFTP == nil {
		if folder, err := filepath.EvalSymlinks(t.Folder); err == nil {
			return folder // by whatever name it is reached
		}
		return path.Clean(t.Folder) // not there yet
	}
	return t.SFTP.User + "@" + net.JoinHostPort(strings.ToLower(t.SFTP.Host), strconv.Itoa(t.SFTP.Port)) + path.Clean(t.SFTP.In)
}

// For completes the terms with the tenant's creditor, and says what is missing.
func (t Terms) For(tenant merchant.Tenant) (Terms, error) {
	t.Creditor.Name = cmp.Or(t.Creditor.Name, tenant.Creditor.Name)
	t.Creditor.Identifier = cmp.Or(t.Creditor.Identifier, tenant.Creditor.Identifier)
	t.Creditor.Identifier = strings.ToUpper(strings.ReplaceAll(t.Creditor.Identifier, " ", ""))
	if t.Creditor.Name == "" || t.Creditor.Identifier == "" {
		return t, errors.New("the account has no creditor name or creditor identifier, and its tenant has none either")
	}
	return t, nil
}

// Sentences for whoever fills the settings in.
var (
	errCutOff   = errors.New("Give the time as hours and minutes, such as 11:00.")
	errZone     = errors.New("Give a time zone by its name, such as Europe/Berlin.")
	errBIC      = errors.New("Give a BIC of 8 or 11 characters, such as COBADEFFXXX.")
	errFolder   = errors.New("Give a path from the root.")
	errWritable = errors.New("Files cannot be written into this folder.")
	errKey      = errors.New("Give the server's public key as in known_hosts: its kind, a blank, and the key.")
)

func checkIBAN(text string) error {
	_, err := sepa.ParseIBAN(text)
	return err
}

func checkBIC(text string) error {
	if !sepa.ValidBIC(text) {
		return errBIC
	}
	return nil
}

func checkCreditorIdentifier(text string) error {
	_, err := sepa.ParseCreditorIdentifier(text)
	return err
}

func checkCutOff(text string) error {
	_, err := readCutOff(text)
	return err
}

func readCutOff(text string) (time.Duration, error) {
	at, err := time.Parse("15:04", text)
	if err != nil {
		return 0, errCutOff
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

func checkZone(text string) error {
	if _, err := time.LoadLocation(text); err != nil || text == "Local" {
		return errZone
	}
	return nil
}

// checkFolder tries a folder that is there. One that is not is made when it is needed.
func checkFolder(text string) error {
	if !strings.HasPrefix(text, "/") {
		return errFolder
	}
	if _, err := os.Stat(text); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	trial, err := os.CreateTemp(text, ".trial-*")
	if err != nil {
		return errWritable
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

func checkHostKey(text string) error {
	if fields := strings.Fields(text); len(fields) < 2 || !slices.Contains([]string{"ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"}, fields[0]) {
		return errKey
	}
	return nil
}

func checkPattern(text string) error {
	_, err := regexp.Compile(text)
	return err
}
