package merchant

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// File is a resource file without mistakes of its own.
type File struct {
	Name    string
	Tenants []FileTenant
}

// FileTenant is one tenant's part of a file. Its records are complete, for what
// the file leaves out, or gives as null, has its default: everything is active;
// a gateway is in test mode in a sandbox; a profile takes all events and is not
// the default; a page has our colours and shows all that the product has; a
// campaign allows 3 attempts, asks for a checkbox, and its sessions live as
// long as the deployment says. Two defaults need the database.
// A webhook profile without a SigningSecret keeps the one it has or gets a new
// one, and an APIKey without a Key is made when the tenant has none of its name.
type FileTenant struct {
	Line            int
	Path            string
	Tenant          Tenant // its Number is given by the database
	APIKeys         []FileAPIKey
	Gateways        []Entry[GatewayAccount]
	WebhookProfiles []Entry[WebhookProfile]
	HostedPages     []Entry[HostedPage]
	Offers          []Entry[Offer]
	Campaigns       []Entry[Campaign]
	// Unresolved are the ids that the file names but does not hold, with their
	// lines. Each must be one of the same tenant's records already.
	Unresolved []Reference
}

// Entry is a record and the line at which it begins.
type Entry[T any] struct {
	Line   int
	Path   string
	Record T
}

// FileAPIKey is a key that the tenant shall have.
type FileAPIKey struct {
	Line int
	Path string
	Name string
	Key  Secret // "" to have one made

	Scopes Scopes
}

// RecordKind is a kind of record that others refer to.
type RecordKind string

const (
	KindTenant         RecordKind = "tenant"
	KindGateway        RecordKind = "gateway"
	KindWebhookProfile RecordKind = "webhook profile"
	KindHostedPage     RecordKind = "hosted page"
	KindOffer          RecordKind = "offer"
	KindCampaign       RecordKind = "campaign"
)

// one is the kind with its article.
func (k RecordKind) one() string {
	if k == KindOffer {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// Reference is an id by which one record names another.
type Reference struct {
	Line int
	Path string
	Kind RecordKind
	ID   uuid.UUID
}

// Rules are what a deployment asks of the records that are set up in it.
type Rules struct {
	Environment Environment
	// Adapters are the names of those that its gateway accounts may have.
	Adapters []string
}

// ParseFile reads a resource file. Its error is a *FileError with every mistake
// there is.
func (rules Rules) ParseFile(name string, data []byte) (*File, error) {
	root, mistake := load(data)
	if mistake != nil {
		return nil, &FileError{File: name, Mistakes: []Mistake{*mistake}}
	}
	r := newReader(rules)
	file := &File{Name: name}
	if o, ok := r.object(root, "", "tenants"); ok {
		file.Tenants = r.tenants(o)
	}
	if len(r.mistakes) > 0 {
		return nil, &FileError{File: name, Mistakes: sorted(r.mistakes)}
	}
	return file, nil
}

func (r *reader) tenants(o object) []FileTenant {
	o.require("tenants")
	objects := o.objects("tenants", append(slices.Clone(tenantForm.keys), "api_keys", "gateways",
		"webhook_profiles", "hosted_pages", "offers", "campaigns")...)
	if list := o.fields["tenants"]; list != nil && list.kind == listNode && len(list.items) == 0 {
		o.wrong("tenants", "The file lists no tenant.")
	}
	tenants := make([]FileTenant, len(objects))
	for i, object := range objects {
		tenants[i] = r.tenant(object, i)
	}
	for i := range tenants {
		tenants[i].Unresolved = r.resolve(i)
	}
	return tenants
}

// place is where the file defines an id. Tenants are counted, not named: one
// whose own id is wrong can still have its records checked.
type place struct {
	kind   RecordKind
	tenant int
	line   int
}

// index knows which ids the file defines and which it refers to.
type index struct {
	places     map[uuid.UUID]place
	keys       map[Secret]int      // the line of each chosen API key
	references map[int][]Reference // by tenant
	names      map[name]uuid.UUID
	tenants    map[int]uuid.UUID
}

// name is what a record is called; in one tenant each kind has names of its own.
type name struct {
	tenant int
	kind   RecordKind
	text   string
}

func newIndex() index {
	return index{
		places: map[uuid.UUID]place{}, keys: map[Secret]int{}, references: map[int][]Reference{}, names: map[name]uuid.UUID{}, tenants: map[int]uuid.UUID{},
	}
}

// namesake is the space in which the ids of tenants are made from their names.
var namesake = uuid.MustParse("018f0000-0000-7000-8000-00005e9ad000")

// define takes a record's own id, which nothing else in the file may have. One that is
// left out is made from the name, and is the same each time: in another tenant, or as
// another kind of record, the same name gives another id.
func (o object) define(kind RecordKind, tenant int) uuid.UUID {
	called, key := name{tenant, kind, o.plainText("name")}, "id"
	id, ok := uuid.Nil, false
	if o.has("id") {
		id, ok = o.uuid("id")
	} else if called.text != "" {
		key = "name"
		id, ok = uuid.NewSHA1(o.r.index.spaceOf(called), []byte(string(kind)+"\n"+called.text)), true
	}
	if !ok {
		return uuid.Nil
	}
	if first, taken := o.r.index.places[id]; taken && key == "name" {
		o.wrong("name", "%s in line %d has the same name: give one of them an id.", upper(first.kind.one()), first.line)
		return id
	} else if taken {
		o.wrong("id", "This id is already that of %s in line %d.", first.kind.one(), first.line)
		return id
	}
	o.r.index.places[id] = place{kind: kind, tenant: tenant, line: o.lineOf(key)}
	o.r.index.names[called] = id
	if kind == KindTenant {
		o.r.index.tenants[tenant] = id
	}
	return id
}

func (i index) spaceOf(called name) uuid.UUID {
	if called.kind == KindTenant {
		return namesake
	}
	return i.tenants[called.tenant]
}

// plainText is a text as it was written, "" where there is none.
func (o object) plainText(key string) string {
	if field := o.fields[key]; field != nil && field.kind == textNode {
		return strings.TrimSpace(field.text)
	}
	return ""
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// refer takes the id of another record of the same tenant, or its name in the file.
func (o object) refer(key string, kind RecordKind, tenant int) *uuid.UUID {
	id, ok := o.r.index.names[name{tenant, kind, o.plainText(key)}]
	if !ok {
		id, ok = o.uuid(key)
	}
	if !ok {
		return nil
	}
	references := o.r.index.references
	references[tenant] = append(references[tenant], Reference{o.lineOf(key), o.at(key), kind, id})
	return &id
}

// resolve checks a tenant's references against the whole file and gives those
// that it does not hold.
func (r *reader) resolve(tenant int) (unresolved []Reference) {
	for _, reference := range r.index.references[tenant] {
		switch target, found := r.index.places[reference.ID]; {
		case !found:
			unresolved = append(unresolved, reference)
		case target.kind != reference.Kind:
			r.wrong(reference.Line, reference.Path, "This is the id of %s, not of %s.", target.kind.one(), reference.Kind.one())
		case target.tenant != tenant:
			r.wrong(reference.Line, reference.Path, "This %s belongs to another tenant.", reference.Kind)
		}
	}
	return unresolved
}
