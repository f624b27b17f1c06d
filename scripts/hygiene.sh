#!/usr/bin/env bash
# Refuses what must not be in the tree: paths of one machine, package registries by name, unfinished work,
# documents that name files which are gone.
set -euo pipefail

cd "$(dirname "$0")/.."
git rev-parse --is-inside-work-tree >/dev/null
status=0

# refuse WHAT PATTERN [PATHSPEC...]: reports every line of the tree, tracked or about to be, that matches.
refuse() {
    local what=$1 pattern=$2
    shift 2
    if git grep --untracked -nIE -e "$pattern" -- . "$@"; then
        echo "hygiene.sh: $what, see above" >&2
        status=1
    fi
}

# The brackets keep each pattern from matching its own line.
refuse "a path of one machine" '(^|[^[:alnum:]_.~-])/(w[o]rk|h[o]me|r[o]ot)/'
# Cargo writes the name of its index into the lock file itself.
refuse "a package registry by name" \
    '(crates[.]i[o]|pypi[.]o[r]g|pythonhosted[.]o[r]g|npmjs[.](o[r]g|c[o]m)|yarnpkg[.]c[o]m|artifact[o]ry|index-[u]rl|nexus[.]|[/]simple([/]|$))' \
    ':!Cargo.lock' ':!fuzz/Cargo.lock'
refuse "unfinished work" '(T[O]DO|F[I]XME|tod[o]!|unimplemente[d]!)'

# Files that the documents name are there: `folder/file.rs` is the end of a path of the tree.
tree=$(git ls-files --cached --others --exclude-standard)
while IFS=: read -r document named; do
    if ! grep -qE "(^|/)${named//./[.]}$" <<<"$tree"; then
        echo "hygiene.sh: $document names $named, which is not in the tree" >&2
        status=1
    fi
done < <(git grep --untracked -oE '`[[:alnum:]_/.-]+[.](rs|py|sh|toml)`' -- '*.md' | tr -d '`' | sort -u)

# What the documents link to or show is there, beside the document that does.
while IFS=: read -r document target; do
    path=$(realpath -m --relative-to=. "$(dirname "$document")/${target%%#*}")
    if ! grep -qxF "$path" <<<"$tree"; then
        echo "hygiene.sh: $document links to $target, which is not in the tree" >&2
        status=1
    fi
done < <(git grep --untracked -oE '\]\([[:alnum:]_/.-]+[.](md|svg|png|html|rs|py|sh)(#[[:alnum:]_-]*)?\)' -- '*.md' |
    sed -E 's/:\]\((.*)\)$/:\1/' | sort -u)

exit "$status"
