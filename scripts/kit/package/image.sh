# shellcheck shell=bash
# Sourced by scripts/package: a container image of one layer, without an engine. It has the program, its libraries at their places,
# the certificates of Mozilla's programme, and neither a shell nor a package manager.

# make_image WORK FILE
make_image() {
    local files=$1/files layout=$1/layout layer=$1/layer.tar file package moment
    moment=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
    mkdir -p "$files"/{etc/{pintle,ssl/certs},usr/{bin,lib,lib64},var/lib/dpkg/status.d} "$1"/open/{tmp,var/lib/pintle}
    ln -s usr/bin usr/lib usr/lib64 "$files/"
    cp "$program" "$files/usr/bin/"
    while read -r file; do
        mkdir -p "$files/usr${file%/*}"
        cp -L "$file" "$files/usr$file"
    done < <(sed 's,^/usr/,/,' "$work/libraries")
    copy_licences "$files/usr/share/doc/libraries"
    # Scanners read from here which versions the libraries have.
    while read -r package; do
        dpkg-query -s "$package" >"$files/var/lib/dpkg/status.d/$package"
    done <"$work/library-packages"
    cp /usr/lib/os-release "$files/etc/"
    cp "$root/conf/pintle.yaml" "$files/etc/pintle/"
    cp "$root"/packaging/image/{passwd,group,nsswitch.conf} "$files/etc/"
    # Not this machine's own bundle, which may have authorities of its own.
    cat /usr/share/ca-certificates/mozilla/*.crt >"$files/etc/ssl/certs/ca-certificates.crt"
    archive "$files" . >"$layer"
    # Folders that others than root write.
    local add=(tar --append --file "$layer" --directory "$1/open" "${plain[@]}" --mtime="@$SOURCE_DATE_EPOCH")
    "${add[@]}" --owner=0 --group=0 --mode=1777 ./tmp
    "${add[@]}" --owner=65532 --group=65532 --mode=0700 ./var/lib/pintle

    umoci init --layout "$layout"
    umoci new --image "$layout:$version"
    umoci raw add-layer --image "$layout:$version" --history.created "$moment" --history.created_by scripts/package "$layer"
    umoci config --image "$layout:$version" --no-history --created "$moment" --os linux --architecture "$architecture" \
        --config.user 65532:65532 --config.entrypoint /usr/bin/pintle --config.cmd serve --config.workingdir / \
        --config.exposedports 3128/tcp --config.env PATH=/usr/bin --config.env PINTLE_CONFIG=/etc/pintle/pintle.yaml \
        --config.env XDG_STATE_HOME=/var/lib --config.env XDG_DATA_HOME=/var/lib \
        --config.label "org.opencontainers.image.title=pintle" --config.label "org.opencontainers.image.version=$version-$revision" \
        --config.label org.opencontainers.image.licenses=Apache-2.0
    umoci gc --layout "$layout"
    archive "$layout" . >"$2"
}
