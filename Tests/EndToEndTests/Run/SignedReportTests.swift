// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSystem
import PintleTesting
import PintleTrust
import Testing

/// `pintle run --report intoto=FILE --sign KEY` and `pintle verify-run`, and other programs that verify the same file.
struct SignedReportTests {
    private static let big = pattern(3_000_001)
    private static let coded: [UInt8] = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 4, 0, 0x43, 0xbe, 0xb7, 0xe8, 1, 0, 0, 0,
    ]

    private let origin: RawOrigin
    private let stage: RunStage

    init() throws {
        self.origin = try RawOrigin { connection in
            while true {
                let path = try connection.readRequest().head.startLine.split(separator: " ")[1]
                switch path {
                case "/big":
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.big.count)\r\n\r\n")
                    try connection.stream.send(Self.big)
                case "/chunked":
                    try connection.send(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
                case "/coded":
                    try connection.send(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(Self.coded.count)\r\n\r\n")
                    try connection.stream.send(Self.coded)
                case "/cut":
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
                    return
                case "/json":
                    try connection.send(response("{\"a\":null,\"b\":1}", fields: "Content-Type: application/json\r\n"))
                case "/none": try connection.send("HTTP/1.1 204 No Content\r\n\r\n")
                case "/missing": try connection.send(response("no", status: "404 Not Found"))
                default: try connection.send(response("file \(path)", fields: "Cache-Control: max-age=600\r\n"))
                }
            }
        }
        self.stage = try RunStage(
            """
            destinations: {deny: ["ads.test"]}
            routes:
              - {name: kept, match: {paths: ["/kept"]}, cache: {policy: protocol}}
              - {name: json, match: {paths: ["/json"]}, response: {body: json, remove_nulls: true}}
            """)
        let made = try self.stage.shell(
            "umask 077; openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout -out key.pub"
        )
        try #require(made.exitCode == 0, "\(made.lines)")
    }

    private var url: String { "http://127.0.0.1:\(self.origin.port)" }

    /// Runs a line of a shell, in which `$url` is the origin, and returns its report in `run.json`.
    private func run(_ line: String, _ options: [String] = []) throws -> ChildProcess {
        try self.stage.run(
            ["--report", "intoto=run.json", "--sign", "key.pem"] + options, environment: ["url": self.url],
            ["sh", "-c", line])
    }

    private func verify(_ file: String = "run.json", _ options: [String] = []) throws -> ChildProcess {
        try PintleProcess.run(
            ["verify-run", file, "--key", "key.pub"] + options, environment: RunStage.environment,
            folder: self.stage.folder.path)
    }

    /// The statement that the program prints once it has verified it.
    private func statement() throws -> JSONObject {
        let process = try self.verify("run.json", ["--format", "json"])
        try #require(process.exitCode == 0, "\(process.lines)")
        return try jsonObject(process.output.joined(separator: "\n"))
    }

    private static func digest(_ bytes: [UInt8]) -> String { RunningDigest.sha256(bytes).hexadecimal }

    private func bodies(_ statement: JSONObject) -> [String: JSONObject] {
        var bodies: [String: JSONObject] = [:]
        for entry in statement.object("predicate").objects("exchanges") {
            let exchange = entry.object("exchange")
            let path = exchange.object("log").text("url").replacing(self.url, with: "")
            bodies["\(exchange.object("log").text("method")) \(path)"] = exchange.object("body")
        }
        return bodies
    }

    // MARK: Statements

    @Test(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
    func `an isolated command cannot read the key`() throws {
        let process = try self.run("wc -c < key.pem; wc -c < key.pub", ["--isolate"])
        #expect(process.exitCode == 0 && process.output.first == "0", "\(process.lines)")
        #expect(process.output.last != "0")
        #expect(try self.verify().exitCode == 0)
    }

    @Test func `digests are those of the bytes that the command has got, on every way that a body takes`() throws {
        let process = try self.run(
            """
            curl -s -o big $url/big; curl -s -o chunked $url/chunked; curl -s -o coded $url/coded; curl -s -o cut $url/cut
            curl -s -o none $url/none; curl -s -I -o head $url/x; curl -s -o missing $url/missing; curl -s -d a -o post $url/post
            curl -s -o kept $url/kept; curl -s -o kept2 $url/kept; curl -s -o json $url/json; curl -s -o denied http://ads.test/?key=secret; true
            """, ["--fail-on", "never"])
        #expect(process.exitCode == 0, "\(process.lines)")
        let statement = try self.statement()
        let bodies = self.bodies(statement)
        for path in ["big", "chunked", "coded", "missing", "kept", "json"] {
            let saved = fileBytes("\(self.stage.folder.path)/\(path)") ?? []
            #expect(bodies["GET /\(path)"]?.text("sha256") == Self.digest(saved), "\(path)")
        }
        #expect(fileBytes("\(self.stage.folder.path)/big") == Self.big && self.stage.text("json") == "{\"b\":1}")
        #expect(bodies["GET /coded"]?.text("coding") == "gzip" && bodies["POST /post"]?.text("sha256") != "")
        #expect(bodies["GET /cut"]?.text("gap") == "it was not sent whole" && bodies["GET /cut"]?["sha256"] == nil)
        #expect(bodies["GET /none"]?.isEmpty == true && bodies["HEAD /x"]?.isEmpty == true)
        #expect(bodies["GET http://ads.test/?key=***"]?.isEmpty == true, "\(bodies)")
        let subject = statement.objects("subject")
        #expect(
            subject.map { $0.text("name") } == ["big", "chunked", "coded", "kept", "json"].map { "\(self.url)/\($0)" })
        #expect(subject[0].object("digest").text("sha256") == Self.digest(Self.big))
        let predicate = statement.object("predicate")
        #expect(predicate.number("exchange_count") == 12 && predicate.object("decisions").number("deny") == 1)
        let rule = predicate.objects("rules")[1]
        #expect(rule.text("rule") == "destinations.deny[0] \"ads.test\"" && rule.text("place") == "pintle.yaml:2:23")
        let sources = predicate.objects("exchanges").map { $0.object("exchange").object("log").text("source") }
        #expect(sources.contains("cache") && !self.stage.text("run.json").contains("secret"))
    }

    @Test func `the configuration is stated by its files, without those of values`() throws {
        try self.stage.folder.write("top-secret\n", to: "token")
        try self.stage.folder.write("version: 1\ninclude: [more.yaml]\n", to: "pintle.yaml")
        try self.stage.folder.write(
            "routes: [{name: a, match: {hosts: [a.test]}, upstream: \"https://a.test\", request: {authorization: {bearer: \"file:token\"}}}]\n",
            to: "more.yaml")
        #expect(try self.run("true").exitCode == 0)
        let configuration = try self.statement().object("predicate").object("configuration")
        #expect(configuration.objects("files").map { $0.text("path") } == ["more.yaml", "pintle.yaml"])
        let sums = try self.stage.shell("sha256sum more.yaml pintle.yaml | sha256sum")
        #expect(sums.output == ["\(configuration.text("sha256"))  -"])
    }

    @Test func `a host is stated with the keys that it has shown, and a tunnel without digests`() throws {
        let site = try PrivateSite()
        try self.stage.folder.write(site.root.certificatePEM, to: "root.pem")
        try self.stage.folder.write(
            "version: 1\ntrust: {site: {hosts: [localhost], roots: [root.pem]}}\n", to: "pintle.yaml")
        let address = "https://localhost:\(site.origin.httpsPort)/hello"
        let intercepted = try self.run(
            "curl -s -w '%{http_version} ' \(address); curl -s --http1.1 \(address)", ["--intercept", "localhost"])
        #expect(intercepted.output == ["hello", "2 hello"], "\(intercepted.lines)")
        var statement = try self.statement()
        let pins = [site.leaf, site.intermediate, site.root].map { $0.certificate.spkiPin.description }
        let host = statement.object("predicate").objects("hosts").last
        #expect(host?["keys"] as? [[String]] == [pins], "\(statement)")
        #expect(statement.objects("subject").map { $0.text("name") } == [address])
        #expect(statement.objects("subject")[0].object("digest").text("sha256") == Self.digest(Array("hello\n".utf8)))
        #expect(statement.object("predicate").number("exchange_count") == 4)
        #expect(statement.object("predicate")["options"] as? [String] == ["--intercept", "localhost"])
        #expect(try self.run("curl -s --cacert root.pem \(address)").output == ["hello"])
        statement = try self.statement()
        let entry = statement.object("predicate").objects("exchanges")[0].object("exchange")
        #expect(entry["body"] == nil && entry["keys"] as? [String] == pins && statement.objects("subject").count == 1)
        #expect(statement.objects("subject")[0].text("name") == "exchanges")
    }

    @Test func `a report with a filter has only what it chooses`() throws {
        let process = try self.stage.run(
            [
                "--report", "intoto=all.json", "--report", "intoto@~c 404=run.json", "--report", "json=report.json",
                "--sign",
                "key.pem",
            ], environment: ["url": self.url], ["sh", "-c", "curl -s $url/a $url/missing $url/b"])
        #expect(process.exitCode == 0, "\(process.lines)")
        let predicate = try self.statement().object("predicate")
        #expect(predicate.number("exchange_count") == 1 && predicate.object("report").text("filter") == "~c 404")
        #expect(predicate.object("report").object("summary").number("requests") == 1)
        let text = try self.verify("all.json")
        #expect(text.output.contains { $0.hasPrefix("exchanges: 3 (3 allow), 0 violations") }, "\(text.lines)")
        #expect(try self.stage.report().object("summary").number("requests") == 3)
    }

    @Test func `the text says what holds, line by line`() throws {
        #expect(
            try self.run("curl -s $url/a; curl -s -o denied http://ads.test/", ["--fail-on", "never"]).exitCode == 0)
        let process = try self.verify()
        let lines = process.output
        #expect(process.exitCode == 0 && lines.count == 10, "\(process.lines)")
        #expect(lines[0].hasPrefix("holds: signed by sha256/") && lines[1].hasPrefix("run: sh at 20"))
        #expect(lines[2].hasPrefix("configuration: pintle.yaml, 1 file, sha256 "))
        #expect(lines[3].hasPrefix("exchanges: 2 (1 allow, 1 deny), 0 violations, Merkle root "))
        #expect(lines[4].hasPrefix("past the proxy: 0 connections, 0 attempts refused (seen: "))
        #expect(
            lines[5] == "host: 127.0.0.1:\(self.origin.port): 1 exchange, in clear"
                && lines[6] == "host: ads.test:80: 1 exchange")
        #expect(lines[7] == "rule: destinations.default (pintle.yaml:2:1): 1 exchange")
        #expect(lines[8] == "rule: destinations.deny[0] \"ads.test\" (pintle.yaml:2:23): 1 exchange")
        #expect(lines[9] == "file: \(Self.digest(Array("file /a".utf8)))  \(self.url)/a")
    }

    @Test func `nothing is left beside the report, and a run without exchanges has one, too`() throws {
        #expect(try self.run("true").exitCode == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: self.stage.folder.path).sorted()
        #expect(names == ["key.pem", "key.pub", "pintle.yaml", "run.json"])
        #expect(try self.statement().objects("subject")[0].text("name") == "exchanges")
    }

    // MARK: Other programs

    @Test func `openssl and Python verify the signature, and read the statement`() throws {
        #expect(try self.run("curl -s $url/a").exitCode == 0)
        let shell = try self.stage.shell(
            """
            /usr/bin/python3 - <<'END'
            import base64, hashlib, json, sys
            from cryptography.hazmat.primitives.serialization import load_pem_public_key
            envelope = json.load(open("run.json"))
            payload = base64.b64decode(envelope["payload"], validate=True)
            kind = envelope["payloadType"].encode()
            signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
            signature = base64.b64decode(envelope["signatures"][0]["sig"], validate=True)
            load_pem_public_key(open("key.pub", "rb").read()).verify(signature, signed)
            statement = json.loads(payload)
            assert statement["_type"] == "https://in-toto.io/Statement/v1", statement
            hash = bytes(32)
            for line in payload.split(b"\\n")[1:-1]:
                leaf = line.removesuffix(b",")[len('{"exchange":'):-len(',"hash":""}') - 64]
                hash = hashlib.sha256(hash + leaf).digest()
            assert statement["predicate"]["last_hash"] == hash.hex()
            open("signed", "wb").write(signed)
            open("signature", "wb").write(signature)
            sys.stdout.write(statement["subject"][0]["digest"]["sha256"] + "\\n")
            END
            openssl pkeyutl -verify -pubin -inkey key.pub -rawin -in signed -sigfile signature
            """)
        #expect(
            shell.output == [Self.digest(Array("file /a".utf8)), "Signature Verified Successfully"], "\(shell.lines)")
    }

    // MARK: Changes

    @Test func `each of 1,000 random single changes of a report is found`() throws {
        let urls = (0..<12).map { "$url/\($0)" }.joined(separator: " ")
        #expect(try self.run("curl -s \(urls)").exitCode == 0)
        #expect(try self.verify().exitCode == 0)
        let file = fileBytes("\(self.stage.folder.path)/run.json") ?? []
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        for number in 0..<1000 {
            let changed = Self.changed(file, &generator)
            try self.stage.folder.write(changed, to: "changed.json")
            let process = try self.verify("changed.json")
            let sentence = process.errors.first ?? ""
            #expect(
                process.exitCode == 1 && process.output.isEmpty && process.errors.count == 1
                    && sentence.hasPrefix("pintle verify-run: changed.json does not hold: it"),
                "change \(number) of the seed \(Seed.ofThisRun): \(process.lines)")
        }
    }

    /// Flips a bit, replaces, removes or inserts a byte, or exchanges two neighbours that differ.
    private static func changed(_ file: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var changed = file
        let index = Int.random(in: file.indices, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: changed[index] &+= UInt8.random(in: 1...255, using: &generator)
        case 2: changed.remove(at: index)
        case 3: changed.insert(UInt8.random(in: 0...255, using: &generator), at: index)
        default:
            let next = file[index...].firstIndex { $0 != file[index] } ?? 1
            changed.swapAt(next - 1, next)
        }
        return changed
    }

    // MARK: Refusals

    @Test func `a report and a key belong together, and keys must be fit`() throws {
        func refusal(_ options: [String]) throws -> String {
            let process = try self.stage.run(options, ["touch", "ran"])
            #expect(process.exitCode == 125 && self.stage.text("ran").isEmpty, "\(process.lines)")
            return process.errors.first ?? ""
        }
        #expect(
            try refusal(["--report", "intoto=run.json"])
                == "pintle run: --report intoto=run.json: such a report is signed; name the key with --sign KEY (openssl genpkey -algorithm ed25519 -out KEY)"
        )
        #expect(
            try refusal(["--sign", "key.pem"])
                == "pintle run: --sign signs reports of the format intoto; add --report intoto=FILE")
        let report = ["--report", "intoto=run.json", "--sign"]
        #expect(
            try refusal(report + ["none.pem"]) == "pintle run: --sign none.pem: cannot be read: no such file or folder")
        #expect(
            try refusal(report + ["key.pub"]) == "pintle run: --sign key.pub: no private key, but a block PUBLIC KEY")
        chmod("\(self.stage.folder.path)/key.pem", 0o644)
        #expect(
            try refusal(report + ["key.pem"]).contains(
                "others may read the key (mode 644), and sign with it; `chmod 600 key.pem`"))
        #expect(
            try refusal(["--report", "intoto=none/run.json", "--sign", "key.pem"]).contains(
                "none: no such file or folder"))
        #expect(!FileManager.default.fileExists(atPath: "\(self.stage.folder.path)/ran"))
    }

    @Test func `a key may come by a pipe, of which nothing is left for the command`() throws {
        let process = try self.stage.shell(
            "$pintle run --report intoto=run.json --sign <(cat key.pem) -- sh -c 'cat /dev/fd/63 2>/dev/null | wc -c'")
        #expect(process.exitCode == 0 && process.output == ["0"], "\(process.lines)")
        #expect(try self.verify().exitCode == 0)
    }

    @Test func `what cannot be verified has its own exit code`() throws {
        #expect(try self.run("true").exitCode == 0)
        #expect(try self.verify("none.json").exitCode == 4 && self.verify(".").exitCode == 4)
        for other in ["/dev/zero", "pintle.yaml"] {
            let process = try self.verify(other)
            #expect(process.exitCode == 1)
            #expect(
                process.errors == [
                    "pintle verify-run: \(other) does not hold: it is not a signed report: byte 1 is not as Pintle writes it"
                ])
        }
        let long = "\(self.stage.folder.path)/long.json"
        try self.stage.folder.write("{\"payload\":\"", to: "long.json")
        #expect(truncate(long, 1 << 30 + 1) == 0)
        #expect(try self.verify(long).errors == ["pintle verify-run: \(long) cannot be read: the file is too large"])
        #expect(try PintleProcess.run(["verify-run", "x"]).exitCode == 2)
        for (key, reason) in [("key.pem", "a private key; name the public one"), ("none", "cannot be read")] {
            let process = try PintleProcess.run(
                ["verify-run", "run.json", "--key", key], folder: self.stage.folder.path)
            #expect(process.exitCode == 4 && process.errors[0].contains(reason), "\(process.lines)")
        }
    }
}
