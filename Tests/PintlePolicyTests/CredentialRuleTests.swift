// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Secrets that a command uses and cannot read (contract §7).
struct CredentialRuleTests {
    private static let value = "s3cr3t/with+signs&more=%"
    private static let environment = surroundings(environment: [
        "TOKEN": value, "SHORT": "1234567", "SPACE": "with a space",
    ])

    private static let rules = """
        trust: {pinned: {hosts: ["api.test"]}, lax: {hosts: ["lax.test"], enforcement: report}}
        credentials:
          api:
            value: "env:TOKEN"
            trust: pinned
            for:
              - {hosts: [api.test], methods: [GET, POST], paths: ["/repos/**"]}
              - {hosts: ["api.test:8443"], in: [header]}
        """

    // MARK: Reading

    @Test func `a credential has a value, requests that it is for, and a trust policy`() throws {
        let credential = try #require(try load("version: 1\n\(Self.rules)", Self.environment).credentials.first)
        #expect(credential.name == "api" && credential.value == Self.value && credential.variable == "TOKEN")
        #expect(credential.trust.value == "pinned" && credential.placeholder == nil)
        #expect(credential.grants.map { $0.hosts.map(\.description) } == [["api.test"], ["api.test:8443"]])
        #expect(credential.grants.map(\.parts) == [CredentialConfiguration.Part.allCases, [.header]])
    }

    @Test(
        arguments: [
            (
                "value: abcdefghijkl, for: [{hosts: [a.test]}], trust: default",
                "credentials.x.value: must be env:NAME or file:PATH: a secret does not stand in the configuration"
            ),
            (
                "value: \"Bearer env:TOKEN\", for: [{hosts: [a.test]}], trust: default",
                "credentials.x.value: must be env:NAME or file:PATH: a secret does not stand in the configuration"
            ),
            (
                "value: \"env:SHORT\", for: [{hosts: [a.test]}], trust: default",
                "credentials.x.value: \"env:SHORT\": a credential has 8 to 4096 bytes; this has 7"
            ),
            (
                "value: \"env:SPACE\", for: [{hosts: [a.test]}], trust: default",
                "credentials.x.value: \"env:SPACE\": a credential has visible characters of ASCII, and no spaces"
            ),
            (
                "value: \"env:TOKEN\", for: [{hosts: [\"*\"]}], trust: default",
                "credentials.x.for[0].hosts[0]: \"*\": a credential is for hosts that are named, not for all"
            ),
            (
                "value: \"env:TOKEN\", for: [{methods: [GET]}], trust: default",
                "credentials.x.for[0]: the key \"hosts\" is missing: a credential is for hosts that are named"
            ),
            (
                "value: \"env:TOKEN\", for: [{hosts: [a.test]}], trust: pined",
                "credentials.x.trust: there is no trust policy pined; did you mean pinned?"
            ),
            (
                "value: \"env:TOKEN\", for: [{hosts: [a.test]}], trust: lax",
                "credentials.x.trust: lax only reports what does not satisfy it, so that it cannot hold a credential back"
            ),
        ])
    func `what could not hold a secret back is refused`(entry: String, expected: String) {
        let yaml = "version: 1\ntrust: {pinned: {}, lax: {enforcement: report}}\ncredentials: {x: {\(entry)}}"
        let found = problems(
            yaml, surroundings(environment: Self.environment.environment, files: ["token": Self.value]))
        #expect(found.contains { $0.hasSuffix(" " + expected) }, "\(found)")
        #expect(!found.joined().contains(Self.value))
    }

    @Test func `a value may come from a file, and be in others`() throws {
        let yaml =
            "version: 1\ncredentials: {x: {value: \"file:token\", files: [a.conf, /b], for: [{hosts: [a.test]}], trust: default}}"
        let given = surroundings(files: ["token": Self.value + "\n"])
        let credential = try #require(try load(yaml, given).credentials.first)
        #expect(credential.value == Self.value && credential.variable == nil && credential.source == "token")
        #expect(credential.files == ["a.conf", "/b"])
    }

    @Test func `an enforcement that only reports holds no credential back either`() {
        let yaml =
            "version: 1\nenforcement: report\ntrust: {p: {}}\n"
            + "credentials: {x: {value: \"env:TOKEN\", for: [{hosts: [a.test]}], trust: p}}"
        #expect(problems(yaml, Self.environment).contains { $0.contains("p only reports") })
    }

    @Test(arguments: [8, 23, 24, 40, 4096])
    func `a placeholder is as long as its value, but no shorter than can be guessed`(count: Int) {
        var credential = CredentialConfiguration(name: "x", position: SourcePosition(line: 1, column: 1))
        credential.value = String(repeating: "v", count: count)
        let (one, other) = (credential.newPlaceholder, credential.newPlaceholder)
        #expect(one.utf8.count == max(count, 24) && one.hasPrefix("pntl_") && one != other)
    }

    // MARK: Judging

    /// The policy of ``rules`` with placeholders, and one of them.
    private struct Stage {
        let policy: Policy
        let table: CredentialTable
        let placeholder: String

        init(_ yaml: String = CredentialRuleTests.rules, placeholder: String? = nil) throws {
            var configuration = try load("version: 1\n\(yaml)", CredentialRuleTests.environment)
            for index in configuration.credentials.indices {
                configuration.credentials[index].placeholder =
                    placeholder ?? configuration.credentials[index].newPlaceholder
            }
            self.policy = try Policy(configuration, file: "pintle.yaml")
            self.table = try #require(CredentialTable(configuration.credentials))
            self.placeholder = try #require(configuration.credentials.first?.placeholder)
        }

        /// The request as it goes out, and the names of its credentials.
        func sent(
            _ method: String, _ url: String, fields: Fields = Fields(), body: TransferRequest.Body = .none
        ) throws -> (request: TransferRequest, names: [String]) {
            let text = url.replacing("PLACEHOLDER", with: self.placeholder)
            let decision = try self.policy.decide(try query(method, text))
            var request = TransferRequest(
                method: method, scheme: decision.scheme, authority: decision.authority, path: decision.path,
                fields: fields, body: body)
            let release = try self.table.release(request, content: ByteBuffer(), by: decision)
            release?.fill(&request)
            return (request, release?.names ?? [])
        }

        func objection(
            _ method: String, _ url: String, fields: Fields = Fields(), body: TransferRequest.Body = .none
        ) throws -> String? {
            do {
                _ = try self.sent(method, url, fields: fields, body: body)
                return nil
            } catch let problem as Problem {
                #expect(problem.name == .credentialMisuse)
                return problem.detail
            }
        }
    }

    @Test func `the value stands in the place of the placeholder, in the form of the place`() throws {
        let stage = try Stage()
        let header = try stage.sent("GET", "https://api.test/repos/a", fields: ["X-Key": "a \(stage.placeholder) b"])
        #expect(header.request.fields["X-Key"] == "a \(Self.value) b" && header.names == ["api"])
        let query = try stage.sent("GET", "https://api.test/repos/a?k=PLACEHOLDER&l=1")
        #expect(query.request.path == "/repos/a?k=s3cr3t%2Fwith%2Bsigns%26more%3D%25&l=1")
        let text = "user:\(stage.placeholder)"
        let basic = try stage.sent(
            "GET", "https://api.test/repos/a", fields: ["Authorization": "basic \(Self.base64(text))"])
        #expect(basic.request.fields["Authorization"] == "Basic \(Self.base64("user:\(Self.value)"))")
        for (type, expected) in [
            ("application/x-www-form-urlencoded", "k=s3cr3t%2Fwith%2Bsigns%26more%3D%25"),
            ("text/plain", "k=\(Self.value)"),
        ] {
            #expect(
                try stage.objection("GET", "https://api.test/repos/a", fields: ["X-\(stage.placeholder)": "1"])?
                    .contains("in the name of a field, where a credential is never put") == true)
            let body = TransferRequest.Body.bytes(ByteBuffer(string: "k=\(stage.placeholder)"))
            let sent = try stage.sent("POST", "https://api.test/repos/a", fields: ["Content-Type": type], body: body)
            guard case .bytes(let bytes) = sent.request.body else { return #expect(Bool(false)) }
            #expect(String(buffer: bytes) == expected && sent.names == ["api"])
        }
    }

    private static func base64(_ text: String) -> String {
        // The alphabet of RFC 4648 §4.
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bytes = Array(text.utf8)
        var encoded = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < group.count ? Int(group[start + $1]) : 0) }
            for place in 0..<4 {
                encoded.append(place <= group.count ? digits[bits >> (18 - 6 * place) & 63] : "=")
            }
        }
        return encoded
    }

    @Test func `a body of nothing but placeholders takes time in proportion`() throws {
        let stage = try Stage()
        // Each byte copied once for each placeholder would be a terabyte.
        let count = 300_000
        let body = TransferRequest.Body.bytes(
            ByteBuffer(string: String(repeating: stage.placeholder, count: count)))
        let sent = try stage.sent("POST", "https://api.test/repos/a", body: body)
        guard case .bytes(let bytes) = sent.request.body else { return #expect(Bool(false)) }
        #expect(bytes.readableBytes == count * Self.value.utf8.count)
    }

    @Test(
        arguments: [
            ("GET", "https://other.test/repos/a", "no host of credentials.api.for matches it"),
            ("GET", "http://api.test/repos/a", "the request would go there in clear"),
            ("DELETE", "https://api.test/repos/a", "credentials.api.for does not name the method DELETE there"),
            ("GET", "https://api.test/users/a", "credentials.api.for does not name the path there"),
            ("GET", "https://api.test/repos/../users", "credentials.api.for does not name the path there"),
            ("GET", "https://api.test/repos/..%2fusers", nil),
            ("GET", "https://sub.api.test/repos/a", "no host of credentials.api.for matches it"),
            ("GET", "https://api.test:8443/any", nil),
        ])
    func `another host, method or path, and clear text, are refused`(method: String, url: String, reason: String?)
        throws
    {
        let stage = try Stage()
        let found = try stage.objection(method, url, fields: ["X-Key": stage.placeholder])
        // Servers read an encoded slash differently, so that a request like that never has a credential.
        if url.contains("%2f") { return #expect(found != nil) }
        #expect(found?.contains(reason ?? "-") ?? (reason == nil), "\(found ?? "")")
        #expect(found?.contains(stage.placeholder) != true && found?.contains(Self.value) != true)
    }

    @Test func `each part is asked for`() throws {
        let stage = try Stage()
        #expect(
            try stage.objection("GET", "https://api.test/repos/PLACEHOLDER")?.contains("stands in the path") == true)
        #expect(
            try stage.objection("GET", "https://api.test:8443/?k=PLACEHOLDER")?
                .contains("credentials.api.for does not let it stand in the query") == true)
        let body = TransferRequest.Body.bytes(ByteBuffer(string: "k=\(stage.placeholder)"))
        #expect(
            try stage.objection("PUT", "https://api.test:8443/", body: body)?
                .contains("does not let it stand in the body") == true)
    }

    @Test func `a path that servers read differently matters to grants for paths alone, in every judgement`() throws {
        let stage = try Stage()
        for (url, parts) in [
            ("https://api.test:8443/a%00", [CredentialConfiguration.Part.header]), ("https://api.test/a%00", []),
        ] {
            let isRefused = try stage.objection("GET", url, fields: ["X-Key": stage.placeholder]) != nil
            let decision = try stage.policy.decide(try query("GET", url))
            let credential = try #require(stage.policy.configuration.credentials.first)
            #expect(credential.releasedParts(of: "GET", by: decision) == parts && isRefused == parts.isEmpty, "\(url)")
        }
    }

    @Test func `check warns of hosts that another trust policy judges`() throws {
        let hosts = "hosts: [api.test, lax.test, other.test, \"*.api.test\"]"
        let rules = Self.rules.replacing("{hosts: [api.test], methods", with: "{\(hosts), methods")
        let warnings = Lint(try Stage(rules).policy).findings.filter { $0.path.hasPrefix("credentials.") }
        let end =
            "and the credential needs pinned: each request there with it is refused; name the host in trust.pinned.hosts"
        #expect(
            warnings.map { "\($0.position): \($0.path): \($0.message)" } == [
                "6:12: credentials.api.for[0]: lax.test is judged by trust.lax.hosts[0] \"lax.test\", \(end)",
                "6:12: credentials.api.for[0]: other.test is judged by no trust policy, \(end)",
            ])
        let routed = "routes: [{name: r, match: {hosts: [other.test]}, trust: pinned}]\n\(rules)"
        #expect(!Lint(try Stage(routed).policy).findings.contains { $0.path.hasPrefix("credentials.") })
    }

    @Test func `the host must be judged by the trust policy that is named`() throws {
        let stage = try Stage(Self.rules.replacing("hosts: [\"api.test\"]", with: "hosts: [\"*.api.test\"]"))
        #expect(
            try stage.objection("GET", "https://api.test/repos/a", fields: ["X-Key": stage.placeholder])?
                .contains("judged by the trust policy system, and credentials.api.trust is pinned") == true)
        let standard = try Stage(Self.rules.replacing("trust: pinned", with: "trust: default"))
        #expect(
            try standard.objection("GET", "https://api.test/repos/a", fields: ["X-Key": standard.placeholder])?
                .contains("judged by the trust policy pinned") == true)
    }

    @Test(arguments: ["https://api.test/other", "http://api.test/other", "http://api.test:8080/repos/a"])
    func `a host that is named sends its answers whole and uncompressed, with or without a credential`(url: String)
        throws
    {
        let stage = try Stage()
        let fields: Fields = ["Range": "bytes=0-9", "If-Range": "\"a\"", "Accept-Encoding": "gzip"]
        let named = try stage.sent("GET", url, fields: fields)
        #expect(named.names.isEmpty && named.request.fields == ["Accept-Encoding": "identity"])
        let other = try stage.sent("GET", "https://other.test/", fields: fields)
        #expect(other.request.fields == fields)
    }

    // MARK: Streams

    /// A text in pieces of one length.
    private static func pieces(_ text: String, of length: Int) -> [ByteBuffer] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: length).map {
            ByteBuffer(bytes: bytes[$0..<min($0 + length, bytes.count)])
        }
    }

    @Test func `placeholders that share bytes are not both filled`() throws {
        let stage = try Stage(placeholder: Self.overlapping)
        let text = stage.placeholder + stage.placeholder.dropFirst()
        let filled = Self.value + stage.placeholder.dropFirst()
        let header = try stage.sent("GET", "https://api.test/repos/a", fields: ["X-Key": text])
        #expect(header.request.fields["X-Key"] == filled)
        let body = try stage.sent(
            "POST", "https://api.test/repos/a", body: .bytes(ByteBuffer(string: text + stage.placeholder)))
        guard case .bytes(let bytes) = body.request.body else { return #expect(Bool(false)) }
        #expect(String(buffer: bytes) == filled + Self.value)
    }

    /// A placeholder that ends as it begins.
    private static let overlapping = "pntl_0123456789abcdepntl"

    @Test(arguments: [1, 2, 5, 7, 24, 25, 1000], [nil, overlapping])
    func `a body that streams is filled wherever it is cut`(length: Int, placeholder: String?) throws {
        let stage = try Stage(placeholder: placeholder)
        let decision = try stage.policy.decide(try query("POST", "https://api.test/repos/a"))
        var request = TransferRequest(
            method: "POST", scheme: .https, authority: decision.authority, path: decision.path,
            body: .stream(length: 100))
        let release = try #require(try stage.table.release(request, content: ByteBuffer(), by: decision))
        release.fill(&request)
        // The value has another length in other forms, but not here.
        guard case .stream(let told) = request.body else { return #expect(Bool(false)) }
        #expect(told == 100)
        var filler = release.bodyFiller
        var sent = ""
        let text =
            "pntl_ \(stage.placeholder)\(stage.placeholder) pnt\(stage.placeholder) \(stage.placeholder.dropLast())"
        for piece in Self.pieces(text, of: length) { sent += String(buffer: try filler.take(piece)) }
        sent += String(buffer: filler.finish())
        #expect(sent == text.replacing(stage.placeholder, with: Self.value))
        #expect(release.names == ["api"])
    }

    @Test(arguments: [1, 3, 24, 1000])
    func `a body that streams elsewhere is refused before its placeholder`(length: Int) throws {
        let stage = try Stage()
        let decision = try stage.policy.decide(try query("POST", "https://other.test/repos/a"))
        let request = TransferRequest(
            method: "POST", scheme: .https, authority: decision.authority, path: decision.path,
            body: .stream(length: nil))
        let release = try #require(try stage.table.release(request, content: ByteBuffer(), by: decision))
        var filler = release.bodyFiller
        var sent = ""
        #expect(throws: Problem.self) {
            for piece in Self.pieces("before \(stage.placeholder) behind", of: length) {
                sent += String(buffer: try filler.take(piece))
            }
        }
        #expect(!sent.contains(stage.placeholder) && release.names.isEmpty)
    }

    @Test(arguments: [1, 2, 3, 7, 50, 1000])
    func `an answer repeats no form of the value, wherever it is cut`(length: Int) throws {
        let stage = try Stage()
        let decision = try stage.policy.decide(try query("GET", "https://api.test/repos/a"))
        let request = TransferRequest(
            method: "GET", scheme: .https, authority: decision.authority, path: decision.path)
        let release = try #require(try stage.table.release(request, content: ByteBuffer(), by: decision))
        let hexadecimal = Self.value.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let forms =
            [
                Self.value, Self.value.uppercased(), "s3cr3t%2fwith%2Bsigns%26more%3D%25", hexadecimal,
                "s3cr3t\\/with+signs&more=%", "s3cr3t/with+signs&amp;more=%",
                "s3cr3t/with+signs\\u0026more=%", "s3cr3t/with\\u002Bsigns\\u0026more=%",
                "s3cr3t&#x2F;with&#x2B;signs&amp;more=%",
                // Handlebars, Mustache, Go, Gson and PHP.
                "s3cr3t/with+signs&amp;more&#x3D;%", "s3cr3t&#x2F;with+signs&amp;more&#x3D;%",
                "s3cr3t/with&#43;signs&amp;more=%", "s3cr3t/with+signs\\u0026more\\u003d%",
                "s3cr3t\\/with+signs\\u0026more=%",
                // Python's quote, Go's PathEscape, and a URL in a URL.
                "s3cr3t/with%2Bsigns%26more%3D%25", "s3cr3t%2Fwith+signs&more=%25",
                "s3cr3t%252Fwith%252Bsigns%2526more%253D%2525",
            ] + (0..<3).map { Self.base64(String(repeating: "x", count: $0) + Self.value + "tail") }
        let text = "start " + forms.joined(separator: "|") + " end s3cr3t"
        var mask = release.echoMask
        var heard = ""
        for piece in Self.pieces(text, of: length) {
            piece.withUnsafeReadableBytes { bytes in
                mask.take(bytes) { heard += String(decoding: $0, as: UTF8.self) }
            }
        }
        mask.finish { heard += String(decoding: $0, as: UTF8.self) }
        #expect(heard.utf8.count == text.utf8.count)
        #expect(heard.hasPrefix("start ****") && heard.hasSuffix(" end s3cr3t"))
        for form in forms.dropLast(3) { #expect(!heard.contains(form), "\(form)") }
        // Nothing but digits at the borders is left of Base64.
        let rest = heard.split(separator: "|").suffix(3).map { $0.prefix { $0 != " " }.filter { $0 != "*" } }
        #expect(rest.allSatisfy { $0.utf8.count < 16 }, "\(rest)")
        #expect(mask.masked(["X-A": "b \(Self.value)"]) == ["X-A": "b " + String(repeating: "*", count: 24)])
        #expect(mask.masked(["X-\(hexadecimal)": "b"]) == ["X-" + String(repeating: "*", count: 48): "b"])
    }
}
