package notice

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"sepad/internal/notice/letter"
)

// patience is how long a server may take to let us in, and for each mail. Some look into
// what they are sent before they take it, and some are slow on purpose.
const patience = 2 * time.Minute

// Server is where mails are handed in.
type Server struct {
	host     string
	port     int
	user     string
	password string
	isTLS    bool
	encrypts gomail.TLSPolicy
	// Authorities vouch for the server; nil stands for those of the machine.
	Authorities *x509.CertPool
}

var (
	errURL       = errors.New("Give smtp://[user:password@]host[:port] or smtps://….")
	errTLSOption = errors.New("tls is required, optional or none.")
	errPlainAuth = errors.New("A password needs encryption: leave out tls=none.")
)

// ParseServer reads a server's address. smtps speaks TLS from the start; smtp asks for
// it (STARTTLS) and sends nothing without, but to this machine itself, or where the
// address ends in ?tls=optional or ?tls=none.
func ParseServer(text string) (*Server, error) {
	address, err := url.Parse(text)
	if err != nil || address.Hostname() == "" || address.Path != "" && address.Path != "/" {
		return nil, errURL // the error of url.Parse repeats the text, and with it the password
	}
	s := &Server{host: address.Hostname(), user: address.User.Username(), encrypts: gomail.TLSMandatory}
	s.password, _ = address.User.Password()
	switch address.Scheme {
	case "smtps":
		s.isTLS, s.port = true, gomail.DefaultPortSSL
	case "smtp":
		s.port = gomail.DefaultPortTLS
	default:
		return nil, errURL
	}
	if port := address.Port(); port != "" {
		if s.port, err = strconv.Atoi(port); err != nil || s.port < 1 || s.port > 65535 {
			return nil, errURL
		}
	}
	switch option := cmp.Or(address.Query().Get("tls"), s.usualTLS()); option {
	case "required":
	case "optional":
		s.encrypts = gomail.TLSOpportunistic
	case "none":
		s.encrypts = gomail.NoTLS
	default:
		return nil, errTLSOption
	}
	if s.user != "" && s.encrypts == gomail.NoTLS && !s.isTLS {
		return nil, errPlainAuth
	}
	return s, nil
}

// usualTLS is what holds where the address does not say: nobody listens between a
// process and its own machine.
func (s *Server) usualTLS() string {
	if ip := net.ParseIP(s.host); s.host == "localhost" || ip != nil && ip.IsLoopback() {
		return "optional"
	}
	return "required"
}

// connect opens a connection over which mails can be sent.
func (s *Server) connect(ctx context.Context) (*gomail.Client, error) {
	shown := &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12, RootCAs: s.Authorities}
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(patience), gomail.WithTLSConfig(shown), gomail.WithTLSPolicy(s.encrypts),
	}
	if s.isTLS {
		options = append(options, gomail.WithSSL())
	} else {
		options = append(options, gomail.WithDialContextFunc(dial))
	}
	if s.user != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return nil, err
	}
	return client, client.DialWithContext(ctx)
}

// mostHeard is how much a server may say in one connection, some hundred times what it needs for a batch. An answer may
// have any number of lines, and all are kept: whoever stands in the server's place before it has shown who it is could
// fill the memory.
const mostHeard = 4 << 20

// bounded is a connection over which so much more can be heard.
type bounded struct {
	net.Conn
	left int
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &bounded{conn, mostHeard}, nil
}

func (b *bounded) Read(into []byte) (n int, err error) {
	if b.left <= 0 {
		return 0, errors.New("notice: the mail server does not come to an end")
	}
	n, err = b.Conn.Read(into)
	b.left -= n
	return n, err
}

// message is what is sent of a letter.
func message(l letter.Letter, id, sender, replyTo, recipient string, at time.Time) (*gomail.Msg, error) {
	from, err := mail.ParseAddress(sender)
	if err != nil {
		return nil, err
	}
	html, err := l.HTML()
	if err != nil {
		return nil, err
	}
	m := gomail.NewMsg()
	_, domain, _ := cutLast(from.Address)
	m.SetMessageIDWithValue(id + "@" + domain)
	m.SetDateWithValue(at)
	m.Subject(l.Subject)
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetGenHeader("Content-Language", l.Language)
	m.SetBodyString(gomail.TypeTextPlain, l.Text())
	m.AddAlternativeString(gomail.TypeTextHTML, html)
	m.SetAddrHeaderFromMailAddress(gomail.HeaderFrom, from)
	err = m.To(recipient)
	if replyTo != "" {
		err = errors.Join(err, m.ReplyTo(replyTo))
	}
	return m, err
}

// cutLast splits an address at its last @.
func cutLast(address string) (local, domain string, found bool) {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == '@' {
			return address[:i], address[i+1:], true
		}
	}
	return address, "", false
}

// verdict is what a try to hand a mail in has come to.
type verdict struct {
	kind verdictKind
	// words say why, without anything of the person: servers repeat addresses.
	words string
}

type verdictKind int

const (
	taken verdictKind = iota
	// refusedForNow: it may be taken later.
	refusedForNow
	// refused: it never will.
	refused
	// unknown: the text was sent, and no answer came.
	unknown
)

// judge says what an error of sending means.
func judge(m *gomail.Msg, err error) verdict {
	if err == nil || m.IsDelivered() { // what went wrong behind a mail is not the mail's
		return verdict{kind: taken}
	}
	sent, isSent := errors.AsType[*gomail.SendError](err)
	if !isSent {
		return verdict{refusedForNow, "The connection was lost."}
	}
	code := sent.ErrorCode()
	words := fmt.Sprintf("%d %s (%s)", code, sent.EnhancedStatusCode(), sent.Reason)
	switch {
	case code >= 500:
		return verdict{refused, words}
	case code >= 400:
		return verdict{refusedForNow, words}
	case sent.Reason == gomail.ErrSMTPDataClose:
		return verdict{unknown, "The connection was lost after the text was sent."}
	case sent.Reason == gomail.ErrGetRcpts, sent.Reason == gomail.ErrGetSender:
		return verdict{refused, "The address cannot be written to."}
	default:
		return verdict{refusedForNow, "The connection was lost (" + sent.Reason.String() + ")."}
	}
}

// judgeConnection says in words why a server could not be reached, without its
// address or credentials.
func judgeConnection(err error) string {
	if code := new(net.OpError); errors.As(err, &code) {
		return "The mail server cannot be reached (" + code.Op + ")."
	}
	return "The mail server did not let us in."
}
