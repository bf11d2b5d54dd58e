# make, without a target, is help.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# sqlc's PostgreSQL parser is C under cgo and WebAssembly without; without cgo
# nothing but Go is needed, and the first build takes seconds.
PURE := CGO_ENABLED=0
PACKAGES := ./...
# What tests use of npm.
NODE := internal/needs/testdata/node

.PHONY: help
help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## a storm of payment callbacks against the orders example, and what it kept
	$(PURE) go run ./examples/orders demo $(DEMO)

.PHONY: serve
serve: ## the orders example with its studio, up to play with: a storm at the press of a button
	$(PURE) go build -o bin/fsmgen ./cmd/fsmgen
	$(PURE) go build -o bin/orders ./examples/orders
	@# Not by go run, which makes a failure of the Ctrl-C that ends it.
	exec env FSMGEN=bin/fsmgen bin/orders serve

.PHONY: test
test: ## all tests on one private PostgreSQL, or on PAWL_TEST_DATABASE_URL
	$(PURE) go run ./internal/localpg/withpg -- env $(PURE) go test -timeout 20m $(PACKAGES)

# What the detector leaves out, and what is another program without a C compiler:
# the parser of SQL and those who stand on it; and the trials of whole systems, whose
# services would be four times as slow.
ALONE := ./internal/torture ./internal/failover ./internal/grants ./internal/hostile ./internal/randommachine ./internal/evaluate ./internal/keyed ./internal/mutate/...
PLAIN := $(ALONE) ./internal/pgparse ./internal/sqlexpr ./internal/bypass ./internal/check ./internal/sqlcgen ./internal/pipeline

.PHONY: test-plain
test-plain: ## the tests that race does not make, or not of this program
	$(PURE) go run ./internal/localpg/withpg -- env $(PURE) go test -timeout 20m $(PLAIN)

.PHONY: race
race: ## all tests with the race detector, but those of mutants, hostile definitions and trials
	@# Breaking and reading SQL is one goroutine's work on parse trees, which the detector makes take minutes.
	$(PURE) go run ./internal/localpg/withpg -- env CGO_ENABLED=1 go test -race -timeout 20m $$($(PURE) go list $(PACKAGES) | grep -vxF "$$($(PURE) go list $(ALONE))")

# Patroni and etcd, from Debian. One short round is among the tests.
.PHONY: failover
failover: ## kill the primary of a Patroni cluster under load: ROUNDS=5 SEED=1 TTL=6 (seconds) FAULT=killed, or frozen
	PAWL_FAILOVER_FAULT="$(FAULT)" PAWL_FAILOVER_ROUNDS=$(or $(ROUNDS),5) PAWL_FAILOVER_SEED=$(or $(SEED),1) PAWL_FAILOVER_TTL=$(or $(TTL),6) \
	$(PURE) go test -count=1 -v -timeout 3h ./internal/failover

# The programs that npm has are of a server alone: a replica needs a pg_basebackup, and a
# dump a pg_dump, of its release. Patroni has its own.
NEWEST = bin=$$(node $(NODE)/postgresql.mjs) && "$$bin/postgres" --version && PATH="$$bin:$$PATH" $(PURE) go run ./internal/localpg/withpg -- env $(PURE) go test -timeout 40m
WITHOUT := -skip '^(TestReplica|TestAReplicaThatIsBehind|TestAwaitStandbys|TestRestoredFromADump|TestNothingAcknowledgedIsLost)$$'

$(NODE)/node_modules/.package-lock.json: $(NODE)/package-lock.json
	npm ci --prefix $(NODE) --ignore-scripts --no-fund --no-audit --loglevel=error

.PHONY: test-newest
test-newest: $(NODE)/node_modules/.package-lock.json ## all tests on the newest PostgreSQL, which npm has; needs node and npm
	@$(NEWEST) $(WITHOUT) $(PACKAGES)

.PHONY: newest-sample
newest-sample: $(NODE)/node_modules/.package-lock.json ## the matrix and the races of order, histories and the audit there, for every change
	@$(NEWEST) -run '^(TestMatrix|TestRaces|TestBatchRaces|TestHistory|TestNothingIsFound.*|TestDamageIsFound|TestAHistoryInPartitions)$$' ./gen/order ./internal/audit

.PHONY: generate
generate: ## make migrations, queries and Go from the definitions
	$(PURE) go run ./cmd/fsmgen generate --distribution citus

.PHONY: screenshots
screenshots: $(NODE)/node_modules/.package-lock.json ## the pictures in docs/images, of pages of the definitions and of a storm; needs node, npm and chromium, and uses pngquant
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && mkdir -p docs/images && \
	$(PURE) go run ./cmd/fsmgen docs "$$folder" && \
	CHROMIUM=$$(command -v chromium || command -v google-chrome) node $(NODE)/screenshots.mjs "$$folder" docs/images
	$(PURE) go build -o bin/fsmgen ./cmd/fsmgen
	$(PURE) go build -o bin/orders ./examples/orders
	CHROMIUM=$$(command -v chromium || command -v google-chrome) node $(NODE)/screenshots-storm.mjs bin/orders bin/fsmgen docs/images
	@if command -v pngquant >/dev/null; then pngquant --force --strip --ext .png 128 docs/images/docs-*.png docs/images/studio-storm*.png; fi

.PHONY: check
check: ## definitions and queries clean, generation without a difference, vet, staticcheck
	$(PURE) go run ./cmd/fsmgen lint --queries queries --queries migrations
	$(PURE) go run ./cmd/fsmgen generate --check
	$(PURE) go tool sqlc diff
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not formatted: $$files"; exit 1; fi
	$(PURE) go mod tidy -diff
	$(PURE) go vet $(PACKAGES)
	$(PURE) go tool staticcheck $(PACKAGES)

.PHONY: mutate
mutate: ## break the generated SQL in every way; docs/mutation.md says which test notices
	$(PURE) go run ./internal/mutate/run -report docs/mutation.md $(WHOLE) $(MUTATE)

# A batch's statement is its call's with arrays in the place of parameters, by the
# same renderers; the mutants of both would take most of a day.
WHOLE := -without '(Batch|LockRows|HeldRows)$$'

.PHONY: mutate-sample
mutate-sample: ## break it in a few ways, for every change
	$(PURE) go run ./internal/mutate/run -statement '$(SAMPLED)' -sample 80 -seed 4

# Statements of which every change was looked at: a survivor among them is news.
SAMPLED := ^(PaymentClose|PaymentSucceed|PaymentSweepClose|PaymentGet|PaymentHistory)$$

.PHONY: machines
machines: ## random machines on PostgreSQL, held against their definitions: MACHINES=10000 SEED=1 FOR=30m
	$(PURE) go run ./internal/localpg/withpg -- env $(PURE) go test ./internal/randommachine -run RandomMachines -v -timeout 24h \
		-args -machines $(or $(MACHINES),10000) -rapid.seed $(or $(SEED),1) -atmost $(or $(FOR),0)

# TORTURE is how long, SEED what repeats a run, FAULTS which faults, TRANSITIONS how
# many transitions there must be in the end.
.PHONY: torture
torture: ## load, and all faults at once, judged in the end; TORTURE=30m SEED=7 FAULTS=kill,cut, docs/torture.md for the rest
	$(PURE) go build -o bin/torture ./internal/torture/run
	@bin/torture $(if $(TORTURE),-for $(TORTURE)) $(if $(SEED),-seed $(SEED)) $(if $(FAULTS),-faults $(FAULTS)) $(if $(TRANSITIONS),-transitions $(TRANSITIONS))

# How long each target runs, and which: FUZZ='hostile|webhook'. One that fails leaves
# its input in the package's testdata/fuzz, where every go test runs it again.
FUZZTIME := 1m

.PHONY: fuzz
fuzz: ## throw bytes at every reader and writer, FUZZTIME=1m each; docs/fuzzing.md
	$(PURE) go run ./internal/localpg/withpg -- env $(PURE) go run ./internal/fuzzall -time $(FUZZTIME) -run '$(FUZZ)'

# The benchmark is a module of its own, so that its peers stay out of go.mod.
.PHONY: bench
bench: ## beside the limit and the alternatives, on a durable PostgreSQL; BENCH=quick for a look, docs/bench.md for the rest
	cd bench && $(PURE) go run ./cmd/bench $(patsubst quick,-quick,$(BENCH))

.PHONY: footprint
footprint: ## bytes of WAL and disk that a transition writes, as docs/scale.md has them
	cd bench && $(PURE) go run ./cmd/footprint

.PHONY: test-bench
test-bench: ## the tests of the benchmark, which measure nothing
	cd bench && $(PURE) go vet ./...
	$(PURE) go run ./internal/localpg/withpg -- sh -c 'cd bench && $(PURE) go test ./...'

# What runs where money is; the rest is a program on a developer's machine.
VULNS := ./fsm/... ./examples/...

.PHONY: vulns
vulns: ## known vulnerabilities that are called; VULNS=./... for the generator too
	$(PURE) go run ./internal/vulns $(VULNS)

.PHONY: ci
ci: check vulns demo mutate-sample test-plain newest-sample test-bench race ## everything that a change must pass; ends in go test's own lines
