package merchant

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"
)

// Told are the settings of a gateway account that may be written down, and the names of
// those that may not.
type Told func(GatewayAccount) (settings map[string]any, secrets []string)

// WriteFile gives a resource file with all that a tenant has set up. Applied where nothing
// is yet, it makes the same; secrets are not in it, and are made anew or filled in.
func WriteFile(of *Setup, keys []APIKey, told Told) ([]byte, error) {
	tenant, err := recordNode(tenantForm.keys, TenantFields(of.Tenant))
	if err != nil {
		return nil, err
	}
	add := func(name string, entries []*yaml.Node, failed error) {
		if len(entries) > 0 {
			tenant.Content = append(tenant.Content, textOf(name), &yaml.Node{Kind: yaml.SequenceNode, Content: entries})
		}
		if err == nil {
			err = failed
		}
	}
	entries, failed := keyNodes(keys)
	add("api_keys", entries, failed)
	entries, failed = gatewayNodes(of.Gateways, told)
	add("gateways", entries, failed)
	entries, failed = recordNodes(of.WebhookProfiles, profileForm.keys, WebhookProfileFields)
	add("webhook_profiles", entries, failed)
	entries, failed = recordNodes(of.HostedPages, pageForm.keys, HostedPageFields)
	add("hosted_pages", entries, failed)
	entries, failed = recordNodes(of.Offers, offerForm.keys, OfferFields)
	add("offers", entries, failed)
	entries, failed = recordNodes(of.Campaigns, campaignForm.keys, CampaignFields)
	add("campaigns", entries, failed)
	if err != nil {
		return nil, err
	}
	file := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		textOf("tenants"), {Kind: yaml.SequenceNode, Content: []*yaml.Node{tenant}},
	}}
	file.HeadComment = "What " + of.Tenant.Name + " has set up. sepad apply -f FILE makes it elsewhere.\nAPI keys and signing secrets are not in it: new ones are made, and shown once."
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err = encoder.Encode(file)
	return text.Bytes(), err
}

// keyNodes are the keys that work, by name alone.
func keyNodes(keys []APIKey) (nodes []*yaml.Node, err error) {
	named := map[string]bool{}
	for _, key := range keys {
		if key.Revoked() || named[key.Name] {
			continue
		}
		named[key.Name] = true
		entry, err := recordNode([]string{"name", "scopes"}, Fields{"name": key.Name, "scopes": key.Scopes.List()})
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, entry)
	}
	return nodes, nil
}

func gatewayNodes(accounts map[uuid.UUID]GatewayAccount, told Told) (nodes []*yaml.Node, err error) {
	for _, id := range sortedIDs(accounts) {
		fields := GatewayFields(accounts[id])
		settings, secrets := told(accounts[id])
		fields["settings"] = settings
		entry, err := recordNode(gatewayForm.keys, fields)
		if err != nil {
			return nil, err
		}
		if len(secrets) > 0 {
			entry.Content[0].HeadComment = "To be filled in below settings: " + strings.Join(secrets, ", ")
		}
		nodes = append(nodes, entry)
	}
	return nodes, nil
}

func recordNodes[T any](records map[uuid.UUID]T, keys []string, fields func(T) Fields) (nodes []*yaml.Node, err error) {
	for _, id := range sortedIDs(records) {
		entry, err := recordNode(keys, fields(records[id]))
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, entry)
	}
	return nodes, nil
}

func sortedIDs[T any](records map[uuid.UUID]T) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(records), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// recordNode writes a record's fields in the order of a file, without those that say nothing.
func recordNode(keys []string, fields Fields) (*yaml.Node, error) {
	text, err := json.Marshal(map[string]any(fields))
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		return nil, err
	}
	if values["active"] == true {
		delete(values, "active")
	}
	return objectOf(keys, values), nil
}

// objectOf writes an object with its keys in an order.
func objectOf(keys []string, values map[string]any) *yaml.Node {
	object := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range keys {
		if node := valueOf(values[key]); node != nil {
			object.Content = append(object.Content, textOf(key), node)
		}
	}
	return object
}

// valueOf writes a value, nil for nothing.
func valueOf(value any) *yaml.Node {
	switch said := value.(type) {
	case string:
		return textOf(said)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: map[bool]string{true: "true", false: "false"}[said]}
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: said.String()}
	case map[string]any:
		if object := objectOf(slices.Sorted(maps.Keys(said)), said); len(object.Content) > 0 {
			return object
		}
	case []any:
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, entry := range said {
			if node := valueOf(entry); node != nil {
				list.Content = append(list.Content, node)
			}
		}
		if len(list.Content) > 0 {
			return list
		}
	}
	return nil
}

// textOf writes a text, quoted where it could be read as something else.
func textOf(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	if text == "<<" || strings.ContainsFunc(text, unicode.IsControl) && !isPlainBlock(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// isPlainBlock tells of a text that its lines stay what they are when they are moved in.
func isPlainBlock(text string) bool {
	others := func(r rune) bool { return r != '\n' && unicode.IsControl(r) }
	return !strings.ContainsFunc(text, others) && strings.TrimSpace(text) == text
}
