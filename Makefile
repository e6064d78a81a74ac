# Every chore of the project. `make help` is made from the comments behind "##".

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Which packages the test targets run, and further flags for go test, as in
# make test PKG=./internal/store/... TESTFLAGS='-run Parity -v'
PKG ?= ./...
TESTFLAGS ?=

# Debian packages that the targets need; missing ones are installed. Tests in the browser
# take twice as long in a Chromium that hides its windows, which will do where the one
# without any cannot be had.
TEST_PACKAGES = postgresql redis-server pgbouncer libxml2-utils curl unzip npm
BROWSER = scripts/install-packages chromium-headless-shell || command -v chromium >/dev/null
RACE_PACKAGES = $(TEST_PACKAGES) gcc libc6-dev
BENCH_PACKAGES = postgresql
# What a database that fails over is made of.
DRILL_PACKAGES = patroni python3-etcd etcd-server haproxy pgbouncer nginx-light
# What judges the examples in deploy/.
DEPLOY_PACKAGES = prometheus prometheus-alertmanager nginx-light caddy openssl curl

# Runs a command with a private PostgreSQL and Redis beside it.
WITH_SERVERS = bin/testenv --
GOTESTSUM = bin/gotestsum --format=pkgname --format-icons=text --
# Tests and compilers make much that nobody keeps: with a larger heap they take a fifth less of the processor.
ROOMY = GOGC=400
# They also wait for servers, disks and each other: one package more than there are processors keeps these busy.
ONE_MORE = -p=$$(($$(getconf _NPROCESSORS_ONLN) + 1))
# Of each package three for a processor: whoever moves a clock waits until every process may have seen it, and reckons nothing meanwhile.
MOST_WAIT = -parallel=$$((3 * $$(getconf _NPROCESSORS_ONLN)))

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

.PHONY: run
run: ## Start sepad for development: sandbox, SQLite in .sepad/, demo tenant
	@go run ./cmd/sepad dev

.PHONY: build
build: ## Build bin/sepad, stamped with version, commit and date
	@read -r version commit date <<<"$$(go run ./release -version)" && CGO_ENABLED=0 go build -trimpath \
		-ldflags "-s -w -X main.version=$$version -X main.commit=$$commit -X main.date=$$date" -o bin/sepad ./cmd/sepad
	@bin/sepad version

.PHONY: release
release: bin/nfpm bin/helm ## Make everything that is published, in dist/: programs, deb, rpm, images, chart, SBOM, checksums
	@go run ./release
	@scripts/verify-package
	@ls -l dist

.PHONY: test
test: test-packages bin/testenv bin/gotestsum ## Install what is missing, then vet and run every test [PKG=./... TESTFLAGS=]
	@$(ROOMY) $(WITH_SERVERS) $(GOTESTSUM) -vet=all -ldflags='-s -w' $(ONE_MORE) $(MOST_WAIT) -count=1 -timeout=15m $(TESTFLAGS) $(PKG)

.PHONY: race
race: race-packages bin/testenv bin/gotestsum ## Run every test under the race detector [PKG=./... TESTFLAGS=]
	@CGO_ENABLED=1 $(WITH_SERVERS) $(GOTESTSUM) -race -count=1 -timeout=40m $(TESTFLAGS) $(PKG)

.PHONY: sim
sim: test-packages bin/testenv ## Run the simulations, the one of billing at full length, or with a seed again [SEED= YEARS=5 SUBSCRIPTIONS=1000]
	@scripts/require-test TestSimulation ./internal/app
	@SEPAD_SIM_SEED='$(SEED)' SEPAD_SIM_YEARS='$(or $(YEARS),5)' SEPAD_SIM_SUBSCRIPTIONS='$(or $(SUBSCRIPTIONS),1000)' \
		$(WITH_SERVERS) go test -count=1 -v -timeout=2h -run '^TestSimulation' ./internal/app

.PHONY: soak
soak: test-packages bin/testenv ## Run simulation and crash tests over and over until one fails [FOR=1h]
	@$(WITH_SERVERS) scripts/soak '$(or $(FOR),1h)'

.PHONY: restore-drill
restore-drill: test-packages bin/testenv ## Rehearse the disaster on both engines: load, backup, load, loss, restore, ask the gateways
	@scripts/require-test TestRestoreDrill ./internal/backup
	@$(WITH_SERVERS) go test -count=1 -v -timeout=15m -run '^TestRestoreDrill$$' ./internal/backup

.PHONY: faults
faults: test-packages bin/testenv ## Break one thing after the other under load, on both engines, and hold what was acknowledged against the books
	@scripts/require-test TestFaults ./cmd/sepad
	@SEPAD_FAULTS=1 $(WITH_SERVERS) go test -count=1 -v -timeout=30m -run '^TestFaults$$' ./cmd/sepad

.PHONY: drill
drill: test-packages bin/testenv ## Fail over at load: Patroni, etcd, haproxy, pgbouncer, two processes behind nginx; nothing acknowledged may be lost
	@scripts/install-packages $(DRILL_PACKAGES)
	@scripts/require-test TestHighAvailability ./cmd/sepad
	@SEPAD_DRILL=1 $(WITH_SERVERS) go test -count=1 -v -timeout=30m -run '^TestHighAvailability$$' ./cmd/sepad

.PHONY: prove
prove: test-packages bin/testenv ## Prove the bank at full size: payments to files and back, killed; a year at every bank; large files [PAYMENTS=10000 COLLECTIONS=100000]
	@scripts/require-test TestProveTheBank ./cmd/sepad
	@scripts/require-test TestAYearOfRebills ./internal/banking
	@SEPAD_PROVE_PAYMENTS='$(or $(PAYMENTS),10000)' SEPAD_PROVE_COLLECTIONS='$(or $(COLLECTIONS),100000)' \
		$(WITH_SERVERS) go test -count=1 -v -timeout=1h -run '^Test(ProveTheBank|LargeFilesTakeNoMoreMemory)$$' ./cmd/sepad
	@SEPAD_PROVE=1 $(WITH_SERVERS) go test -count=1 -v -timeout=1h -run '^TestAYearOfRebills$$' ./internal/banking

.PHONY: rotation
rotation: test-packages bin/testenv ## Rotate the encryption keys of processes under load, as documented
	@scripts/require-test TestKeysAreRotatedUnderLoad ./internal/app
	@$(WITH_SERVERS) go test -count=1 -v -timeout=15m -run '^TestKeysAreRotatedUnderLoad$$' ./internal/app

.PHONY: upgrade
upgrade: test-packages bin/testenv ## Bring processes from the version before to this one and back, side by side under load [PREVIOUS=program of the release before]
	@scripts/require-test TestRollingUpgrade ./cmd/sepad
	@SEPAD_TEST_UPGRADE=1 SEPAD_TEST_PREVIOUS='$(abspath $(PREVIOUS))' $(WITH_SERVERS) go test -count=1 -v -timeout=15m -run '^Test(RollingUpgrade|UpgradeOfOneMachine)$$' ./cmd/sepad

.PHONY: mutate
mutate: test-packages bin/testenv bin/mutate ## Change the program in small ways and list what no test notices [PKG=./internal/store N=40 SEED=1 MATCH=Settle OWN=1]
	@nice $(WITH_SERVERS) bin/mutate $(if $(OWN),-own) -packages '$(filter-out ./...,$(PKG))' -n '$(or $(N),40)' -seed '$(or $(SEED),1)' -match '$(MATCH)'

.PHONY: bench
bench: ## Measure against the limits and peers, print the ratios [WORK=create FULL=1 ROUNDS=20]
	@scripts/install-packages $(BENCH_PACKAGES)
	@WORK='$(WORK)' FULL='$(FULL)' ROUNDS='$(ROUNDS)' go run ./bench

.PHONY: study
study: ## Answer one question about size or speed at length: OF=partitions, growth, night or reads [ROWS=10000000]
	@scripts/install-packages $(BENCH_PACKAGES)
	@ROWS='$(ROWS)' go run ./bench '$(OF)'

.PHONY: lighthouse
lighthouse: ## Let Lighthouse judge the payment page, on a machine with nothing else to do
	@scripts/install-packages chromium npm
	@scripts/require-test TestLighthouse ./internal/page
	@SEPAD_TEST_LIGHTHOUSE=1 go test -count=1 -v -run '^TestLighthouse$$' ./internal/page

.PHONY: lint
lint: bin/golangci-lint ## Run the linters of .golangci.yml (the first time builds them: minutes)
	@bin/golangci-lint run

.PHONY: fmt
fmt: bin/gofumpt ## Format all Go code
	@bin/gofumpt -w .

.PHONY: generate
generate: ## Make the generated files again
	@go generate ./...

.PHONY: verify
verify: bin/helm bin/kubeconform bin/compose ## Check that generated files are fresh, module files tidy, deploy/ right, and both API documents by npm's tools
	@scripts/verify-generated
	@go mod tidy -diff
	@cd tools && go mod tidy -diff
	@cd tools/deploy && go mod tidy -diff
	@scripts/install-packages $(DEPLOY_PACKAGES)
	@scripts/verify-deploy
	@scripts/install-packages npm
	@SEPAD_TEST_NPM_TOOLS=1 go test -count=1 ./sdk

.PHONY: clean
clean: ## Remove what was built (not the data in .sepad/)
	@rm -rf bin dist

# First among what a target needs: whoever may not install hears of it before
# minutes of building.
.PHONY: test-packages race-packages
test-packages:
	@scripts/install-packages $(TEST_PACKAGES)
	@$(BROWSER)
race-packages:
	@scripts/install-packages $(RACE_PACKAGES)
	@$(BROWSER)

# Always asked for: go build itself knows whether anything has changed.
.PHONY: bin/testenv bin/mutate
bin/testenv:
	@go build -o $@ ./internal/testenv/run

bin/mutate:
	@go build -o $@ ./mutate

# The tools have a module of their own, so that what they depend on does not
# weigh on ours.
bin/gotestsum: tools/go.mod
	@go build -C tools -o ../$@ gotest.tools/gotestsum

bin/gofumpt: tools/go.mod
	@go build -C tools -o ../$@ mvdan.cc/gofumpt

bin/golangci-lint: tools/go.mod
	@go build -C tools -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Those that pack and judge what is deployed have another one, for they depend on much.
bin/nfpm: tools/deploy/go.mod
	@go build -C tools/deploy -o ../../$@ github.com/goreleaser/nfpm/v2/cmd/nfpm

bin/helm: tools/deploy/go.mod
	@go build -C tools/deploy -o ../../$@ helm.sh/helm/v3/cmd/helm

bin/compose: tools/deploy/go.mod
	@go build -C tools/deploy -o ../../$@ github.com/compose-spec/compose-go/v2/cmd

bin/kubeconform: tools/deploy/go.mod
	@go build -C tools/deploy -o ../../$@ github.com/yannh/kubeconform/cmd/kubeconform
