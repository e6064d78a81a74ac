module sepad/examples/shop

go 1.24

require sepad/sdk/go v0.0.0

replace sepad/sdk/go => ../../sdk/go
