# Heatline: a thin front over meson.  `make help` lists what there is.

BUILD  ?= build
PREFIX ?= /usr/local
DEMO   ?= examples/demo.py
export BUILD

.DEFAULT_GOAL := all
.PHONY: all help setup demo test check-asan lint bench-overhead bench-accuracy bench-attach bench-page install format clean

all: $(BUILD)/build.ninja ## build into build/, where build/heatline runs without being installed
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	scripts/setup build
	meson setup $(BUILD) --prefix=$(PREFIX)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what building and testing need
	scripts/setup test

demo: all ## profile an example, show the report, and its page until Ctrl-C
	$(BUILD)/heatline run -o $(BUILD)/demo-profile.json $(DEMO)
	$(BUILD)/heatline view --cli --reduced --no-pager $(BUILD)/demo-profile.json
	@if [ -t 0 ] && [ -t 1 ]; then $(BUILD)/heatline view $(BUILD)/demo-profile.json; \
	else echo "To see it as a page: $(BUILD)/heatline view $(BUILD)/demo-profile.json"; fi

test: setup ## every test: unit, sanitized, lints, all Pythons (ARGS="-k py3.11" for some)
	scripts/test $(ARGS)

check-asan: setup ## unit tests, and Heatline on one Python, under ASan and UBSan
	scripts/test --sanitized-only

lint: setup all ## layering, headers, signal safety, banned functions
	.test-env/venv/bin/python -m pytest -q tests/lint

bench-overhead: all ## what profiling costs, beside other profilers
	bench/setup-peers
	.test-env/peers/bin/python bench/overhead/run.py $(ARGS)

bench-attach: all ## profilers that attach to a running process, side by side
	bench/setup-peers
	.test-env/peers/bin/python bench/attach/run.py $(ARGS)

bench-accuracy: all ## how true the profiles are, beside Scalene
	bench/setup-peers
	.test-env/peers/bin/python bench/accuracy/run.py $(ARGS)

bench-page: setup all ## how long the page takes, beside Scalene's
	node bench/page/run.mjs $(ARGS)

install: all ## install below PREFIX (/usr/local)
	meson configure $(BUILD) --prefix=$(PREFIX)
	meson install -C $(BUILD)

format: ## lay out the C files that differ from the last commit
	git diff --name-only --diff-filter=AM HEAD -- '*.c' '*.h' | xargs -r clang-format -i

clean: ## remove what was built (not .test-env, the tests' Pythons and tools)
	rm -rf build build-asan
