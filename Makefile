# Everything is built from this folder; `make` alone lists the targets.

GO ?= go
# Further arguments of the main job, for instance
#   make bench BENCH_FLAGS='--set phases.measure=5s --repeats 1'
BENCH_FLAGS ?=

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bench: build ## the main job: what does each ack policy cost? (about 3 minutes)
	@sh .ci/setup redis-optional
	./bin/loadgen run ack-storm $(BENCH_FLAGS)

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

.PHONY: help bench test build lint clean
.DEFAULT_GOAL := help
