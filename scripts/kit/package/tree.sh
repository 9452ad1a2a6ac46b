# shellcheck shell=bash
# Sourced by scripts/package: the program, what it needs of the system, and the tree that runs on systems without that.

# take_program FROM TO: the program as it is installed, without the places in which the build looked for libraries.
take_program() {
    mkdir -p "${2%/*}"
    # A debug build has them in those places.
    if readelf -d "$1" | grep -q 'libswiftCore\.so'; then
        say "$1 needs the shared runtime of Swift; a release build has it inside"
        exit 4
    fi
    cp "$1" "$2"
    chrpath --delete "$2" >/dev/null
    chmod 755 "$2"
}

# shared_libraries PROGRAM: the paths of its libraries and theirs, and of the loader.
shared_libraries() { env -u LD_PRELOAD ldd "$1" | awk '$2 == "=>" { print $3 } /^\t\// { print $1 }' | LC_ALL=C sort -u; }

# owning_packages: the Debian packages of the files that are read, one a line.
owning_packages() {
    local file
    while read -r file; do
        # The database may have a file below / or below /usr, one of which is a link to the other.
        { dpkg-query --search "$file" || dpkg-query --search "/usr$file" || dpkg-query --search "${file#/usr}"; } 2>/dev/null |
            sed 's/:.*//;q'
    done | sort -u
}

# copy_licences FOLDER: those of the packages of the libraries.
copy_licences() {
    local package
    mkdir -p "$1"
    while read -r package; do cp -L "/usr/share/doc/$package/copyright" "$1/$package"; done <"$work/library-packages"
}

# Options of tar for archives that depend on nothing but names and contents.
plain=(--sort=name --format=gnu --numeric-owner)

# archive FOLDER NAME: a tar file of what is in the folder, below NAME.
archive() {
    tar --create --directory "$1" "${plain[@]}" --owner=0 --group=0 --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
        --transform="flags=rSH;s,^\.,$2," .
}

# make_portable_tree FOLDER: bin, lib and share as below /usr or /usr/local, with all libraries.
make_portable_tree() {
    local folder=$1 file
    mkdir -p "$folder"/{bin,lib/pintle,share/{pintle,doc/pintle,man,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}}
    cp "$root/packaging/portable/pintle" "$folder/bin/"
    cp "$program" "$folder/lib/pintle/"
    while read -r file; do cp -L "$file" "$folder/lib/pintle/"; done <"$work/libraries"
    cp -r "$work"/manual/man* "$folder/share/man/"
    gzip -9n "$folder"/share/man/man*/*
    cp "$work/manual/completions/bash/pintle" "$folder/share/bash-completion/completions/"
    cp "$work/manual/completions/zsh/_pintle" "$folder/share/zsh/site-functions/"
    cp "$work/manual/completions/fish/pintle.fish" "$folder/share/fish/vendor_completions.d/"
    cp -r "$root"/conf/{pintle.schema.json,pintle-test.schema.json,pintle.yaml,systemd} "$root"/packaging/{apparmor,logrotate} \
        "$folder/share/pintle/"
    cp -r "$root"/{README.md,CHANGELOG.md,LICENSE,docs} "$root"/conf/{examples,grafana,prometheus} \
        "$root/packaging/debian/copyright" "$folder/share/doc/pintle/"
    copy_licences "$folder/share/doc/pintle/libraries"
}
