// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Exchanges with servers whose certificates are judged.
struct TrustScenarioTests {
    private static let mismatch = Verdict(
        outcome: .trusted, host: "a.test", reported: TrustError(code: .pinMismatch, message: "no key is pinned"))
    private static let refused = Verdict(
        outcome: .refused(TrustError(code: .pinMismatch, message: "no key is pinned")), host: "a.test")
    private static let pins = """
        enforcement: report
        trust: {t: {hosts: [a.test], pinning: public_key, pins: ["sha256/\(String(repeating: "A", count: 43))="]}}
        """
    private static let secure = ["GET https://a.test/"]

    static let reported: [Scenario] = [
        Scenario(
            name: "a pin that is only reported marks the answer", policy: pins, request: secure,
            events: [.begin, .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET https://a.test/",
                "client < 200, 0 bytes {Pintle-Violation: pin-mismatch}",
                "client < end",
                "record: completed allow 200 up 0 down 0 pin-mismatch",
            ], settings: .init(verdict: mismatch)),
        Scenario(
            name: "a parent's pin that is only reported is counted, and marks nothing", policy: pins, request: secure,
            events: [.begin, .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET https://a.test/",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 0 pin-mismatch",
            ], settings: .init(parentVerdict: mismatch)),
        Scenario(
            name: "a pin that is only reported marks a switch, too", policy: pins,
            request: ["GET https://a.test/", "Connection: upgrade", "Upgrade: websocket"],
            events: [.begin, .switched(["Upgrade": "websocket"])],
            expected: [
                "origin < GET https://a.test/ offering websocket",
                "client < relay 101 {Pintle-Violation: pin-mismatch, Connection: Upgrade, Upgrade: websocket}",
                "record: completed allow 101 up 0 down 0 pin-mismatch",
            ], settings: .init(verdict: mismatch)),
        Scenario(
            name: "an origin that is refused is a problem", policy: pins, request: secure,
            events: [.begin, .originRefused(refused)],
            expected: [
                "origin < GET https://a.test/",
                "client < 502",
                "client < problem pin-mismatch: no key is pinned",
                "client < end",
                "record: failed reject 502 up 0 down 0 pin-mismatch",
            ]),
    ]

    @Test(arguments: Self.reported)
    func `verdicts are told`(scenario: Scenario) async throws { try await scenario.perform() }

    /// The trust that is demanded of the destination, and its outcome.
    static let proofs = [
        ("roots: [root.pem]", ["client < relay 200, watched", "record: completed allow 200 up 0 down 0"]),
        (
            "roots: [root.pem], pinning: public_key, pins: [\"sha256/\(String(repeating: "A", count: 43))=\"]",
            [
                "client < 502", "client < problem pin-mismatch", "client < end",
                "record: failed reject 502 up 0 down 0 pin-mismatch",
            ]
        ),
        (
            "roots: [other.pem]",
            [
                "client < 502", "client < problem certificate-invalid", "client < end",
                "record: failed reject 502 up 0 down 0 certificate-invalid",
            ]
        ),
    ]

    @Test(arguments: Self.proofs)
    func `a destination proves itself, and is connected to once more`(trust: String, expected: [String]) async throws {
        let pki = TestPKI()
        let (root, other) = (try pki.root("Root"), try pki.root("Other"))
        let folder = try TemporaryFolder()
        try folder.write(root.certificatePEM, to: "root.pem")
        try folder.write(other.certificatePEM, to: "other.pem")
        let rules = trust.replacing("roots: [", with: "roots: [\(folder.path)/")
        let server = try OpenSSLServer([try pki.leaf("Leaf", dns: ["a.test"], signedBy: root)])
        let scenario = Scenario(
            name: "", policy: "tunnels: {verify: [a.test]}\ntrust: {t: {hosts: [a.test], \(rules)}}",
            request: TunnelScenarioTests.connect,
            events: [.begin, .mark, .connected, .until(expected[0])],
            settings: .init(port: server.port))
        let (lines, breaches) = try await ExchangeStage(scenario).run()
        let told = lines.drop { $0 != ExchangeStage.mark }.dropFirst()
        #expect(breaches.isEmpty)
        // The sentences have names and pins of this run's certificates.
        #expect(
            told.map { $0.hasPrefix("client < problem") ? String($0.prefix { $0 != ":" }) : $0 } == expected, "\(lines)"
        )
    }
}
