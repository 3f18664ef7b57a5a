# Each target makes .venv ready first; see bin/start.sh.
.PHONY: app test test-rehearsals test-long lint docs site coverage bench image-check

app:  ## the app on 127.0.0.1:$EVENHAND_PORT (8501)
	@sh bin/start.sh app

test:  ## the whole suite, browser tests included; the same examples each time
	@sh bin/start.sh test

test-rehearsals:  ## whole ways through the app, and real processes that are killed; CI runs them after the suite
	@sh bin/start.sh rehearsals

test-long:  ## what needs more than a few seconds a case, and properties with new examples
	@sh bin/start.sh long

lint:  ## ruff, mypy, and what sources, catalogues and documents must keep to
	@sh bin/start.sh lint

docs:  ## write docs/cli.md and the pictures of README and docs again
	@sh bin/start.sh docs

coverage:  ## simulate how often intervals hold the truth; writes docs/coverage.md
	@sh bin/start.sh coverage

bench:  ## the short ratios against benchmarks/ratios.tsv; says which fell by more than a fifth
	@sh bin/start.sh bench

site:  ## the documents and the API of core as a site in site/
	@sh bin/start.sh site

image-check:  ## the image's steps in a Debian chroot, and a sign-in through Caddy; needs root, debootstrap and caddy
	@python3 bin/image_check.py
