#!/usr/bin/env bash
# Puts Debian's Chromium in place for the tests that look at pages, and prints where it is.
set -euo pipefail

for name in chromium chromium-browser google-chrome; do
    if command -v "$name"; then
        exit 0
    fi
done
refuse() {
    echo "chromium.sh: $1: pages are tested in a real browser, so install Debian's package chromium (or a Chromium of your own, on PATH)" >&2
    exit 1
}
command -v apt-get >/dev/null || refuse "there is no Chromium, and no apt-get to install it with"
[ "$(id -u)" = 0 ] || refuse "there is no Chromium, and only root may install it"
{
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium fonts-dejavu-core
} >&2 || refuse "Debian's Chromium could not be installed"
command -v chromium || refuse "Debian's Chromium is installed and not on PATH"
