// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Names of files that are not UTF-8: `d\xe9p`, in the Latin-1 of an old disk, a folder `$d` that a shell makes.
struct BytePathTests {
    private let stage: RunStage

    init() throws { self.stage = try RunStage() }

    /// Runs a text of a shell with the folder in `$d`, and a configuration `x.yaml` in it.
    private func shell(_ text: String) throws -> ChildProcess {
        try self.stage.shell("d=$PWD/$'d\\xe9p'; mkdir \"$d\" && cp pintle.yaml \"$d/x.yaml\" || exit 99; \(text)")
    }

    @Test func `LOOK-86 a command, its words, a configuration and reports`() throws {
        let process = try self.shell(
            """
            printf '#!/bin/sh\\nprintf %%s "$0$1" | od -An -c | tail -n 1; exit 7\\n' > "$d/cmd"; chmod +x "$d/cmd"
            for format in json junit sarif markdown har; do set -- "$@" --report $format="$d/r.$format"; done
            $pintle run -c "$d/x.yaml" "$@" -- "$d/cmd" $'\\xfe'; echo "code $?"
            PATH=$d:$PATH $pintle run -- cmd a; echo "code $?"
            for format in json junit sarif markdown har; do test -s "$d/r.$format" || echo "no $format"; done
            grep -o 'd[^ ]*x.yaml' "$d/r.json"
            python3 -m json.tool "$d/r.json" > /dev/null && python3 -m json.tool "$d/r.sarif" > /dev/null || echo "no JSON"
            grep -o 'd%E9p/x.yaml' "$d/r.sarif" | head -n 1
            """)
        #expect(process.output.filter { $0 == "code 7" }.count == 2, "\(process.lines)")
        #expect(!process.output.contains { $0.hasPrefix("no ") }, "\(process.lines)")
        #expect(process.output.contains { $0.hasSuffix("c   m   d 376") }, "\(process.lines)")
        #expect(
            process.errors.contains { $0.hasSuffix("/d\\xe9p/x.yaml)") || $0.contains("made no request") },
            "\(process.lines)")
    }

    @Test func `LOOK-86 what is learnt, and the files of an authority for this run`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let process = try self.shell(
            """
            export TMPDIR=$d
            $pintle run --learn "$d/learnt.yaml" -- sh -c 'printf %s "$SSL_CERT_FILE" | od -An -tx1; cat "$SSL_CERT_FILE"
                curl -s http://127.0.0.1:\(origin.port)/' > out
            echo "code $?"; grep -c 'BEGIN CERT' out | grep -q '^0' && echo "no certificate"
            grep -q '64 e9 70' out || tr -d '\\n' < out | grep -q 'e9 *70' || echo "another folder"
            test -s "$d/learnt.yaml" && $pintle check -c "$d/learnt.yaml" > /dev/null; echo "code $?"
            ls "$d" | grep -c pintle-run
            """)
        #expect(process.output.first == "code 0" && process.output.suffix(2) == ["code 0", "0"], "\(process.lines)")
        #expect(!process.output.contains { $0.hasPrefix("no ") || $0 == "another folder" }, "\(process.lines)")
    }

    @Test func `LOOK-86 a file that is not there is named with its bytes`() throws {
        let process = try self.shell("$pintle check -c \"$d/nowhere.yaml\"; echo \"code $?\"")
        #expect(process.output == ["code 4"], "\(process.lines)")
        #expect(process.errors.contains { $0.contains("/d\\xe9p/nowhere.yaml") }, "\(process.lines)")
    }

    @Test func `LOOK-86 an authority in such a folder is told with its bytes`() throws {
        let process = try self.shell(
            """
            export XDG_DATA_HOME=$d
            test -s "$($pintle ca init)" || echo "no path"
            printf 'version: 1\\ninterception: {hosts: ["*"]}\\n' > "$d/i.yaml"
            eval "$($pintle env -c "$d/i.yaml")"; test -s "$SSL_CERT_FILE" || echo "no file: $SSL_CERT_FILE"
            """)
        #expect(process.output.isEmpty, "\(process.lines)")
    }

    /// Everything that a configuration names is relative to its folder.
    @Test func `LOOK-86 a proxy with its sockets, logs, cache and certificates in such a folder, and its reload`()
        throws
    {
        try self.stage.folder.write(
            """
            version: 1
            listen: ["unix:proxy.sock"]
            log: {exchanges: exchanges.log}
            cache: {path: cache}
            routes: [{name: kept, cache: {policy: protocol}}]
            include: ["parts/*.yaml"]

            """, to: "pintle.yaml")
        let process = try self.shell(
            """
            cd "$d"; mkdir parts; echo 'destinations: {deny: ["ads.example"]}' > parts/$'\\xe9'.yaml
            export XDG_STATE_HOME=$d/state
            $pintle serve -c "$d/x.yaml" > log 2>&1 & proxy=$!
            until grep -q listening log || ! kill -0 $proxy 2>/dev/null; do :; done
            python3 -c 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect("proxy.sock"); \\
            s.sendall(b"GET http://ads.example/ HTTP/1.0\\r\\n\\r\\n"); os.write(1, b"status %s\\n" % s.recv(99).split()[1])'
            $pintle reload --pid $proxy; echo "code $?"
            kill -TERM $proxy; wait $proxy; echo "code $?"; ls; cat log >&2
            """)
        #expect(process.output.filter { $0 == "code 0" }.count == 2, "\(process.lines)")
        #expect(process.output.first == "status 403", "\(process.lines)")
        #expect(process.output.contains("cache") && process.output.contains("exchanges.log"), "\(process.lines)")
    }
}
