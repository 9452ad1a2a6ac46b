#!/usr/bin/env bash
# The house rules that neither the compiler nor the formatter knows. Each breach is printed as file:line: rule.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Types that carry a story: their state is private, which ends with a file.
stories='/(SharedCache|DiskCache|Exchange|HTTP2ClientStream|HTTP1Connection|Transfer|SocketChannel|WebSocketLink)[.]swift$'

# Rooms in which a guard that returns without an action says why.
guarded='PintleProxy PintleSession PintleExtras PintleLoop PintleCache PintleCacheStore PintleHTTPCache'

find Examples Fuzz Sources Tests -name '*.swift' -print0 | sort -z | xargs -0 awk \
    -v stories="$stories" -v guarded="$guarded" '
function breach(line, rule) { printf "%s:%d: %s\n", FILENAME, line, rule; failed = 1 }
function allowed(rooms) { return index(" " rooms " ", " " room " ") > 0 }

# A claim that the compiler cannot check has a comment beside it: at most two lines above or below.
function claimIsBare() {
    printf "%s:%d: @unchecked, nonisolated(unsafe) and unowned need a comment beside them that says why they hold\n",
        claimFile, claim
    failed = 1
    claim = 0
}

FNR == 1 {
    if (claim) claimIsBare()
    split(FILENAME, path, "/")
    inTests = path[1] == "Tests"
    inExamples = path[1] == "Examples"
    room = path[2]
    comment = reason = documented = guardLine = -9
    explained = 0
    saysWhy = path[1] == "Sources" && allowed(guarded)
}
FNR == 401 && FILENAME !~ stories { breach(FNR, "a file has at most 400 lines") }
FNR == 701 { breach(FNR, "a file that tells one story has at most 700 lines") }

# The doc comment of a function, or a comment beside the guard, says why nothing happens.
/^[ \t]*\/\/\// {
    doc = documented == FNR - 1 ? doc $0 : $0
    documented = FNR
}
/^[ \t]*\/\/([^\/]|$)/ { reason = FNR }
/^([^"]*[^A-Za-z_."])?(func|init|deinit)[^A-Za-z"]/ && !/guard|^[ \t]*\/\// {
    explained = documented >= FNR - 2 && doc ~ /[Dd]oes nothing|[Nn]othing is|[Nn]o effect|Idempotent|nil if|unless/
}
/(^|[^A-Za-z])guard / { guardLine = FNR }
saysWhy && /else \{ return \}$/ {
    if (!explained && FNR - reason > 2 && guardLine - reason > 2) {
        breach(FNR, "a guard that returns without an action says why, in a comment above or the doc comment; or it traps")
    }
}

/^[ \t]*\/\// {
    comment = FNR
    if (claim && FNR - claim <= 2) claim = 0
    next
}
claim && FNR - claim >= 2 { claimIsBare() }

/@unchecked|nonisolated\(unsafe\)|@preconcurrency|(^|[^A-Za-z])unowned[^A-Za-z]/ {
    if (FNR - comment > 2 && $0 !~ /\/\//) { claim = FNR; claimFile = FILENAME }
}
!inExamples && /(^|[^A-Za-z0-9_.])(print|debugPrint|NSLog)\(/ {
    breach(FNR, "nothing prints: log it, or let a command write it through Output")
}
/(^|[^A-Za-z0-9_])(sleep|usleep|nanosleep)\(/ { breach(FNR, "nothing sleeps: wait for the event, or arm a timer") }
/try!/ { breach(FNR, "no try!: map the error or pass it on") }

!inTests && !inExamples && /[pP]ort: *[1-9][0-9]+[,)]/ && !/[pP]ort: *(80|443)[,)]/ && FILENAME !~ /\/ListenAddress\.swift$/ {
    breach(FNR, "a port is configured, or the default of a scheme, and stands with the defaults")
}
inTests && /(--listen|listen|bind|SocketAddress).*(:|[pP]ort: *)[1-9][0-9]*[^0-9.]/ && /--listen|bind|SocketAddress\(/ {
    breach(FNR, "tests listen on port 0 and ask which it became")
}

/import CPintleCurl/ && !allowed("PintleSession") { breach(FNR, "only PintleSession knows libcurl") }
/import CPintleOpenSSL/ && !allowed("PintleTrust PintleTesting PintleTrustTests") {
    breach(FNR, "only PintleTrust knows OpenSSL")
}
/import CPintle(Zlib|Brotli|Zstd)/ && !allowed("PintleCoding") {
    breach(FNR, "only PintleCoding knows zlib, Brotli and Zstandard")
}
/import CPintleLinux/ && !allowed("PintleLoop PintleSession PintleReachability PintleStorage") {
    breach(FNR, "only PintleLoop, PintleSession, PintleReachability and PintleStorage know the kernel")
}
!inTests && !inExamples && /import Foundation$/ && room != "Pintle" {
    breach(FNR, "all of Foundation, with ICU, would make the program half as large again: import FoundationEssentials")
}
# Paths are bytes (PintleSystem/SystemText.swift). Only PintleSystem gives them to the system.
!inTests && !inExamples && room != "PintleSystem" {
    if (/import PintleSystem/) bytePaths = FILENAME
    if (/Glibc[.](open|access|rename|unlink|link|mkdir|rmdir|opendir)[(]/ || /FileManager|ProcessInfo|contentsOfFile/ \
        || /(^|[^A-Za-z.])stat[(].*&/) {
        breach(FNR, "paths and the environment are bytes: use PintleSystem, and Inherited of the program")
    }
    if (/(^|[^A-Za-z.])(open[(].*O_[A-Z]|lstat[(].*&|(access|mkdir|rmdir|unlink|rename|opendir|realpath|readlink)[(])/ \
        && !/func |^ *\/\// && bytePaths != FILENAME) {
        breach(FNR, "a path is bytes: import PintleSystem, whose functions take it")
    }
}
/import CPintleProcess/ && !allowed("pintle PintleCommandTests Programs") { breach(FNR, "only the program starts processes") }
/import CPintleSQLite/ && !allowed("PintleDatabase") { breach(FNR, "only PintleDatabase knows SQLite") }
/import PintleDatabase/ && !allowed("PintleAudit PintleCacheStore PintleCacheStoreTests PintleDatabaseTests") {
    breach(FNR, "only PintleAudit and PintleCacheStore have databases")
}
/import CPintlePCRE2/ && !allowed("PintleSchema") { breach(FNR, "only PintleSchema knows PCRE2") }
/import CPintle(Crypt|YAML)/ && !allowed("PintlePolicy") { breach(FNR, "only PintlePolicy knows libcrypt and libyaml") }
!inTests && /import CPintle/ && !/internal import/ { breach(FNR, "a C module is an internal import") }
!inTests && /import NIO/ \
    && allowed("PintleCoding PintleMessage PintleSerialization PintleSchema PintleImage PintleActivity PintleTrust PintlePins PintleWatch") {
    breach(FNR, "channels and event loops are no business of this room")
}

END {
    if (claim) claimIsBare()
    exit failed
}' || exit 1

# A type has one name in the whole program, and a name one meaning.
find Sources -name '*.swift' -print0 | sort -z | xargs -0 awk '
match($0, /^([a-z@]+(\([^)]*\))? )*(actor|class|enum|protocol|struct|typealias) [A-Z][A-Za-z0-9]*/) {
    name = substr($0, RSTART, RLENGTH)
    sub(/.* /, "", name)
    if (name in places) {
        printf "%s:%d: %s is a type in %s, too: one name has one meaning\n", FILENAME, FNR, name, places[name]
        failed = 1
    }
    places[name] = FILENAME
}
END { exit failed }' || exit 1

/usr/bin/python3 scripts/kit/words.py Examples Fuzz Sources Tests
