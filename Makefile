# make, without a target, is help.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# sqlc's PostgreSQL parser is C under cgo and WebAssembly without; without cgo
# nothing but Go is needed, and the first build takes seconds.
PURE := CGO_ENABLED=0
PACKAGES := ./...

.PHONY: help
help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## a storm of payment callbacks against the orders example, and what it kept
	$(PURE) go run ./examples/orders demo $(DEMO)

.PHONY: serve
serve: ## the orders example, up to play with
	$(PURE) go run ./examples/orders serve

.PHONY: test
test: ## all tests on one private PostgreSQL, or on PAWL_TEST_DATABASE_URL
	$(PURE) go run ./internal/localpg/withpg -- env $(PURE) go test -timeout 20m $(PACKAGES)

# What the detector leaves out, and what is another program without a C compiler:
# the parser of SQL and those who stand on it.
PLAIN := ./internal/hostile ./internal/keyed ./internal/mutate/... ./internal/pgparse ./internal/sqlexpr ./internal/bypass ./internal/check ./internal/sqlcgen ./internal/pipeline

.PHONY: test-plain
test-plain: ## the tests that race does not make, or not of this program
	$(PURE) go run ./internal/localpg/withpg -- env $(PURE) go test -timeout 20m $(PLAIN)

.PHONY: race
race: ## all tests with the race detector, but those of mutants, keys and hostile definitions
	@# Breaking and reading SQL is one goroutine's work on parse trees, which the detector makes take minutes.
	$(PURE) go run ./internal/localpg/withpg -- env CGO_ENABLED=1 go test -race -timeout 20m $$($(PURE) go list $(PACKAGES) | grep -v -e /internal/mutate -e /internal/keyed -e /internal/hostile)

.PHONY: generate
generate: ## make migrations, queries and Go from the definitions
	$(PURE) go run ./cmd/fsmgen generate --distribution citus

NODE := internal/needs/testdata/node

.PHONY: screenshots
screenshots: ## the pictures in docs/images, from pages of the definitions; needs node, npm and chromium, and uses pngquant
	npm ci --prefix $(NODE) --ignore-scripts --no-fund --no-audit --loglevel=error
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && mkdir -p docs/images && \
	$(PURE) go run ./cmd/fsmgen docs "$$folder" && \
	CHROMIUM=$$(command -v chromium || command -v google-chrome) node $(NODE)/screenshots.mjs "$$folder" docs/images
	@if command -v pngquant >/dev/null; then pngquant --force --strip --ext .png 128 docs/images/docs-*.png; fi

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

# How long each target runs, and which: FUZZ='hostile|webhook'. One that fails leaves
# its input in the package's testdata/fuzz, where every go test runs it again.
FUZZTIME := 1m

.PHONY: fuzz
fuzz: ## throw bytes at every reader and writer, FUZZTIME=5m each; docs/fuzzing.md
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

.PHONY: ci
ci: check demo mutate-sample test-plain test-bench race ## everything that a change must pass; ends in go test's own lines
