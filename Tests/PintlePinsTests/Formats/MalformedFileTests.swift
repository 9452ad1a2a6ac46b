// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintleTesting
import PintleTrust
import Testing

/// Files that violate their format.
struct MalformedFileTests {
    private static let good = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    private static let sha1 = "2jmj7l5rSw0yVb/vlWAYkK/YBwk="
    private static let texts = PinFormat.allCases.filter { $0 != .cer }

    @Test(arguments: texts)
    func `an empty file is refused, and what belongs there is said`(format: PinFormat) {
        let problem = format.problem("")
        #expect(problem?.hasPrefix("pins") == true, "\(problem ?? "")")
        #expect(format.problem("\n \n# nothing\n") != nil)
    }

    @Test(arguments: [
        (PinFormat.sha256, "sha256/\(good)\nsha1/\(sha1)", "pins:2: \"sha1/\(sha1)\" is a SHA-1 digest"),
        (.sha256, "\nsha256/AAAA", "pins:2: 3 bytes after base64, a SHA-256 pin has 32"),
        (.sha256, "pin: \(good)", "pins:1: not a pin"),
        (.sha256, "# pintle-host: a\nsha256/\(good)", "pins:1: there is no note \"pintle-host\"; those that there are"),
        (.sha256, "# pintle-hosts: a b\nsha256/\(good)", "pins:1: pintle-hosts: \"a b\" is no host pattern"),
        (.sha256, "# pintle-expires: soon\nsha256/\(good)", "pins:1: pintle-expires: \"soon\" is no date"),
        (.sha256, "sha256/\(good)\n# pintle-hosts: a", "pins:2: this note stands before no pins"),
        (.curl, "/etc/ssl/key.pem", "pins:1: \"/etc/ssl/key.pem\" does not begin with sha256//"),
        (.curl, "sha256//\(good);sha256//AA", "pins:1: 1 bytes after base64"),
        (.curl, "pinnedpubkey =", "pins:1: pinnedpubkey without a pin"),
        (.hpkp, "pin-sha256=\"\(good)\"", "pins:1: max-age is missing"),
        (.hpkp, "max-age=0; pin-sha256=\"\(good)\"", "pins:1: max-age=0 takes the pins of a host back"),
        (.hpkp, "max-age=1e3; pin-sha256=\"\(good)\"", "pins:1: max-age is a number of seconds, not \"1e3\""),
        (.hpkp, "max-age=1; max-age=2; pin-sha256=\"\(good)\"", "pins:1: the directive \"max-age\" is there twice"),
        (.hpkp, "max-age=1; pin-sha1=\"\(sha1)\"", "pins:1: \"pin-sha1\" is no digest that RFC 7469 has"),
        (.hpkp, "max-age=1; pin-sha256=\"\(good)", "pins:1: a quotation mark is not closed"),
        (.hpkp, "max-age=1", "pins:1: the field has no pin-sha256"),
        (.android, "<a/>", "pins:1: the document's element is \"a\", not network-security-config"),
        (.android, "<network-security-config>\n</a>", "pins:2: not well-formed XML"),
        (
            .android,
            "<network-security-config><domain-config><domain>a.b</domain>\n<pin-set><pin digest=\"SHA-1\">\(sha1)</pin>"
                + "</pin-set></domain-config></network-security-config>",
            "pins:2: the digest is \"SHA-1\"; Android has SHA-256 alone"
        ),
        (
            .android,
            "<network-security-config><domain-config>\n<domain>a b</domain><pin-set><pin digest=\"SHA-256\">\(good)</pin>"
                + "</pin-set></domain-config></network-security-config>",
            "pins:2: \"a b\" is no host name"
        ),
        (.okhttp, ".add(\"a.b\",\n PIN)", "pins:2: a pin of \"a.b\" is not written out"),
        (.okhttp, ".add(\"a.b\", \"sha1/\(sha1)\")", "pins:1: \"sha1/\(sha1)\" is a SHA-1 digest"),
        (.okhttp, ".add(\"*.*\", \"sha256/\(good)\")", "pins:1: \"*\" is no host name"),
        (.okhttp, ".add(\"a.b\", \"sha256/\(good)", "pins:1: the file ends before the call for \"a.b\" does"),
        (
            .envoy, "a:\n  verify_certificate_hash: [ab]",
            "pins:2: verify_certificate_hash has digests of whole certificates"
        ),
        (.envoy, "verify_certificate_spki: x", "pins:1: a list of base64 digests is due"),
        (.envoy, "verify_certificate_spki: [\(sha1)]", "pins:1: \"\(sha1)\" is a SHA-1 digest"),
        (.envoy, "a: [", "pins:2:1: not valid YAML"),
        (.pintle, "trust: {}", "pins:1:1: the key \"version\" is missing"),
        (.pintle, "version: 1\ntrust: {p: {pinning: public_key, pins: [x]}}", "pins:2:41: trust.p.pins[0]: not a pin"),
        (.trustkit, "<plist><dict/></plist>", "pins: TSKPinnedDomains is missing"),
        (.trustkit, "{}", "pins: not a property list"),
    ])
    func `what is wrong is said with its line`(format: PinFormat, text: String, words: String) throws {
        let problem = try #require(format.problem(text))
        #expect(problem.hasPrefix(words), "\(problem)")
    }

    @Test func `TrustKit's values have their types`() throws {
        func plist(_ domain: String) -> String {
            "<plist><dict><key>TSKPinnedDomains</key><dict>\n<key>a.b</key>\(domain)</dict></dict></plist>"
        }
        let hashes = "<key>TSKPublicKeyHashes</key><array><string>\(Self.good)</string></array>"
        for (domain, words) in [
            ("<string>x</string>", "\"a.b\" must be a dictionary"),
            ("<dict/>", "\"a.b\" TSKPublicKeyHashes is missing"),
            ("<dict><key>TSKPublicKeyHashes</key><array/></dict>", "\"a.b\": TSKPublicKeyHashes is empty"),
            (
                "<dict><key>TSKPublicKeyHashes</key><array><integer>1</integer></array></dict>",
                "\"a.b\": TSKPublicKeyHashes must"
            ),
            (
                "<dict><key>TSKPublicKeyHashes</key><array><string>\(Self.sha1)</string></array></dict>",
                "\"\(Self.sha1)\" is a SHA-1"
            ),
            (
                "<dict>\(hashes)<key>TSKIncludeSubdomains</key><string>YES</string></dict>",
                "\"a.b\": TSKIncludeSubdomains must"
            ),
            ("<dict>\(hashes)<key>TSKExpirationDate</key><string>1.1.27</string></dict>", "\"1.1.27\" is no date"),
        ] {
            let problem = try #require(PinFormat.trustkit.problem(plist(domain)))
            #expect(problem.hasPrefix("pins:2: \(words)"), "\(problem)")
        }
    }

    @Test func `bytes that are no text are refused`() {
        for format in Self.texts {
            #expect(throws: PinFormatError.self) { try format.read([0xFF, 0xFE, 0x00, 0x80], file: "f", nowhere) }
        }
        #expect(throws: PinFormatError.self) {
            try PinFormat.cer.read([0x30, 0x03, 0x02, 0x01, 0x01], file: "f", nowhere)
        }
    }

    @Test func `quoted text is bounded`() throws {
        let long = String(repeating: "x", count: 100_000)
        for format in Self.texts {
            let problem = try #require(format.problem(".add(\"a.b\", \"sha256/\(long)\")\n<\(long)>"))
            #expect(problem.utf8.count < 1000, "\(format): \(problem.prefix(2000))")
        }
    }

    /// Whatever becomes of a file on its way, reading it ends, with pins that can be written again or with a reason.
    @Test(arguments: texts)
    func `damaged files are read whole or refused`(format: PinFormat) throws {
        var random = RandomPins(seed: 7)
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<300 {
            var bytes = Array(try format.write(random.sets()).text.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                guard let place = bytes.indices.randomElement(using: &generator) else { break }
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: Array("\"<{[#/*".utf8).shuffled(using: &generator), at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            do throws(PinFormatError) {
                let content = try format.read(bytes, file: "pins", nowhere)
                #expect(content.sets.allSatisfy { !$0.pins.isEmpty })
                // If writing is refused, the damage turned the pins into some that the format can be read with but not
                // written.
                guard let written = try? format.write(content.sets), written.losses.isEmpty else { continue }
                let again = try format.read(Array(written.text.utf8), file: "written", nowhere)
                #expect(again.sets == content.sets, "\(String(decoding: bytes, as: UTF8.self))")
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }
}
