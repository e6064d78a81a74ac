module sepad/sdk/go

go 1.24
