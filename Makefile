# Everything is built from this folder; `make` alone lists the targets.

GO ?= go
# Further arguments of the main job, for instance
#   make bench BENCH_FLAGS='--set phases.measure=5s --repeats 1'
BENCH_FLAGS ?=
# Which comparisons make perf runs, and how many rounds of each, for instance
#   make perf PERF=Storm PERF_ROUNDS=10
PERF ?= ^Benchmark(Fanout|FanoutFloor|Storm|StormFloor|SendPath|IdleConnection|Receive|ReceiveFloor|Measuring)$$
PERF_ROUNDS ?= 3
PERF_ROOMS = ./refserver/push ./refserver/redisstore ./refserver/server ./loadgen/engine

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bench: build ## the main job: what does each ack policy cost? (about 3 minutes)
	@sh .ci/setup redis-optional
	./bin/loadgen run ack-storm $(BENCH_FLAGS)

perf: ## hold the hot paths against their floors, one table of ratios (about 4 minutes)
	@sh .ci/setup redis-optional
	@$(GO) test -p 1 -run '^$$' -bench '$(PERF)' -benchtime $(PERF_ROUNDS)x $(PERF_ROOMS) 2>&1 | \
		grep -v -e 'no test files' -e '^ok ' -e '^PASS' | $(GO) run ./results/pair/perftable

test: ## run all tests, with the race detector where a C compiler can be had
	@sh .ci/setup redis-optional
	@sh .ci/setup race-optional
	@sh .ci/test

build: ## build both programs into bin/
	$(GO) build -o bin/ ./refserver ./loadgen

lint: ## formatting, vet and the import layers of .golangci.yml
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...

clean: ## remove what was built and measured here
	rm -rf bin results/runs

.PHONY: help bench perf test build lint clean
.DEFAULT_GOAL := help
