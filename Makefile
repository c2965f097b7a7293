# sb-tools: four one-shot commands in C. `make help` lists the targets.

CC       ?= cc
CFLAGS   ?= -O2 -g
PREFIX   ?= /usr/local
DESTDIR  ?=
BUILD    ?= build

bindir     = $(PREFIX)/bin
mandir     = $(PREFIX)/share/man
bashdir    = $(PREFIX)/share/bash-completion/completions
zshdir     = $(PREFIX)/share/zsh/site-functions
fishdir    = $(PREFIX)/share/fish/vendor_completions.d
systemdir  = $(PREFIX)/lib/systemd/system
userdir    = $(PREFIX)/lib/systemd/user
docdir     = $(PREFIX)/share/doc/sb-tools

VERSION   := $(shell sed -n 's/^\#define SB_VERSION "\(.*\)"/\1/p' common/version.h)
PROGRAMS  := $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard cmd/sb-*/*.c)))))
LIBRARIES  = mount smartcols jansson

ifeq ($(HARDEN),no)
harden     =
else
harden     = -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection
harden_ld  = -Wl,-z,relro,-z,now
endif
warnings   = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	     -Wold-style-definition -Wwrite-strings -Wpointer-arith -Wcast-align -Wcast-qual \
	     -Wformat=2 -Wundef -Wvla -Wimplicit-fallthrough -Wnull-dereference \
	     -Wno-missing-field-initializers
ifdef CI
warnings  += -Werror
endif

pkg_cflags = $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null | sed 's/-I/-isystem /g')
pkg_libs   = $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null || \
	     echo -lmount -lsmartcols -ljansson)
all_cflags = -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Icommon $(warnings) $(harden) \
	     -fPIE -MMD -MP $(pkg_cflags) $(CPPFLAGS) $(CFLAGS)
all_ldflags = -pie $(harden_ld) -Wl,--as-needed $(LDFLAGS)

lib        = $(BUILD)/libsb.a
lib_obj   := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard common/*.c)))
bins       = $(PROGRAMS:%=$(BUILD)/bin/%)

# Programs of one file each: what the tests and the benchmarks build kernel states with.
helper_bin := $(patsubst tests/helpers/%.c,$(BUILD)/helpers/%,$(wildcard tests/helpers/*.c))
bench_bin  := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
unit_bin   := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))


.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all demo check bench lint asan fuzz stress mutants coverage valgrind install uninstall \
	deb dist clean help programs test-programs bench-programs run-check run-demo

## all         build the four commands into build/bin (installs missing libraries on Debian)
all:
	@.ci/install-deps build
	@$(MAKE) --no-print-directory programs

programs: $(bins)

test-programs: programs $(helper_bin) $(unit_bin)

bench-programs: programs $(helper_bin) $(bench_bin)

## demo        play the incident, and its cure, in private namespaces
demo:
	@.ci/install-deps build demo
	@$(MAKE) --no-print-directory run-demo

run-demo: programs $(helper_bin)
	@tests/demo $(BUILD)

## check       build and run every test; TESTS="tests/x.bats ..." runs some
check:
	@.ci/install-deps build test fuzz
	@$(MAKE) --no-print-directory run-check

run-check: test-programs
	@tests/fuzz/build $(BUILD)
	@tests/run --build $(BUILD) $(TESTS)

## bench       print the ratios of speed and memory
bench:
	@.ci/install-deps build
	@$(MAKE) --no-print-directory bench-programs
	@tests/bench/run $(BUILD)

## lint        formatting, static analysis, shell, manuals, and drift between them
lint:
	@.ci/install-deps build lint
	@.ci/lint

## asan        the tests again under address and undefined behaviour sanitizers
asan:
	@.ci/install-deps build test asan
	@$(MAKE) --no-print-directory BUILD=build/asan HARDEN=no run-check \
		CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined" \
		LDFLAGS="-fsanitize=address,undefined"

## fuzz        fuzz the parsers; SECONDS=N for each
fuzz:
	@.ci/install-deps build fuzz
	@tests/fuzz/run $(or $(SECONDS),60)

## stress      storms and random schedules, for longer than check has time for
stress:
	@.ci/install-deps build test
	@$(MAKE) --no-print-directory test-programs
	@tests/run --build $(BUILD) --stress $(TESTS)

## mutants     take each fence out in turn; the tests must notice
mutants:
	@.ci/install-deps build test
	@tests/mutants/run $(MUTANTS)

## valgrind    the unit tests under valgrind
valgrind:
	@.ci/install-deps build test valgrind
	@$(MAKE) --no-print-directory test-programs
	@SB_UNIT_WITH="valgrind -q --error-exitcode=1 --leak-check=full --track-fds=yes" \
		tests/run --build $(BUILD) tests/unit.bats

## coverage    lines and branches of common/ that the tests reach
coverage:
	@.ci/install-deps build test coverage
	@$(MAKE) --no-print-directory BUILD=build/coverage HARDEN=no CFLAGS="-O0 -g --coverage" \
		LDFLAGS=--coverage run-check
	@tests/coverage build/coverage

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(all_cflags) -c -o $@ $<

$(lib): $(lib_obj)
	@rm -f $@
	$(AR) rcs $@ $^

define program_rules
$(BUILD)/bin/$(1): $$(patsubst %.c,$(BUILD)/obj/%.o,$$(sort $$(wildcard cmd/$(1)/*.c))) $(lib)
	@mkdir -p $$(@D)
	$$(CC) $$(all_cflags) $$(all_ldflags) -o $$@ $$(filter %.o,$$^) $(lib) $$(pkg_libs)
endef
$(foreach program,$(PROGRAMS),$(eval $(call program_rules,$(program))))

$(BUILD)/helpers/%: tests/helpers/%.c $(lib)
	@mkdir -p $(@D)
	$(CC) $(all_cflags) $(all_ldflags) -o $@ $< $(lib) $(pkg_libs) -lpthread

$(BUILD)/bench/%: tests/bench/%.c $(lib)
	@mkdir -p $(@D)
	$(CC) $(all_cflags) $(all_ldflags) -o $@ $< $(lib) $(pkg_libs) -lpthread

$(BUILD)/unit/%: tests/unit/%.c $(lib)
	@mkdir -p $(@D)
	$(CC) $(all_cflags) $(all_ldflags) -o $@ $< $(lib) $(pkg_libs) -lcmocka -lpthread

## install     into DESTDIR$(PREFIX)
install: all
	@.ci/install-files install "$(DESTDIR)" "$(BUILD)" bin="$(bindir)" man="$(mandir)" \
		bash="$(bashdir)" zsh="$(zshdir)" fish="$(fishdir)" system="$(systemdir)" \
		user="$(userdir)" doc="$(docdir)"

## uninstall   take out what install put there
uninstall:
	@.ci/install-files uninstall "$(DESTDIR)" "$(BUILD)" bin="$(bindir)" man="$(mandir)" \
		bash="$(bashdir)" zsh="$(zshdir)" fish="$(fishdir)" system="$(systemdir)" \
		user="$(userdir)" doc="$(docdir)"

## deb         build a Debian package into build/
deb: all
	@.ci/build-deb $(VERSION)

## dist        build a source archive into build/
dist:
	@mkdir -p build
	git archive --format=tar.gz --prefix=sb-tools-$(VERSION)/ \
		-o build/sb-tools-$(VERSION).tar.gz HEAD

## clean       remove everything that was built
clean:
	rm -rf build

## help        this list
help:
	@sed -n 's/^## //p' Makefile

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
