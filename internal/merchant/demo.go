package merchant

import (
	_ "embed"

	"github.com/google/uuid"
)

// DemoFileName is how the demo's resource file is called in messages.
const DemoFileName = "demo.yaml"

// DemoFile is the resource file of the shop that a developer starts with.
//
//go:embed demo.yaml
var DemoFile []byte

// Ids of the demo shop that a first call needs.
var (
	DemoTenantID         = uuid.MustParse("018f0000-0000-7000-8000-000000000001")
	DemoGatewayID        = uuid.MustParse("018f0000-0000-7000-8000-000000000010")
	DemoHostedCampaignID = uuid.MustParse("018f0000-0000-7000-8000-000000000051")
	DemoServerCampaignID = uuid.MustParse("018f0000-0000-7000-8000-000000000053")
)
