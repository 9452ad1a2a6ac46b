// SPDX-License-Identifier: Apache-2.0

import PintleAudit
import PintleMessage
import PintlePolicy
import PintleSession
import PintleTesting
import PintleTrust

/// One report with everything that reports can have, and with the names that an attacker would choose.
struct ReportSample {
    /// Special characters of every format, terminal escapes, and characters that change the direction of writing.
    static let hostileName = "a|<b>&\"'`*_]]>@x\u{1B}[2J\u{9B}2J\u{202E}\u{0}\nline"
    static let address = "127.0.0.1"

    let report: AuditReport
    let pin: Pin

    init() throws {
        let pki = TestPKI()
        let root = try pki.root("Sample Root")
        let leaf = try pki.leaf(Self.hostileName, dns: ["good.test"], signedBy: root)
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: [root.pin, Pin(String(repeating: "ab", count: 32))],
            roots: .only([root.certificate]))
        let evaluator = try TrustEvaluator(policy: policy)
        self.pin = leaf.pin
        func chain(_ host: String) -> AuditedChain {
            AuditedChain(
                keys: [.rsa, .ecdsa], presented: leaf.chain,
                verdict: evaluator.evaluate(chain: leaf.chain, host: host))
        }
        func target(_ host: String, _ policy: String, line: Int?) -> AuditTarget {
            AuditTarget(
                policy: policy, policyIndex: 0, authority: Authority(host: host, port: 443),
                position: line.map { SourcePosition(line: $0, column: 7) }, source: "trust.\(policy).hosts[0]")
        }
        let good = target("good.test", "first", line: 3)
        let bad = target("bad.test", "second", line: 8)
        let gone = target("gone.test", "second", line: nil)
        func address(_ chains: [AuditedChain]) -> AddressReport {
            AddressReport(
                address: Self.address,
                handshakes: [
                    HandshakeReport(
                        offer: HandshakeOffer(versions: .tls13 ... .tls13, keys: .rsa), negotiated: nil,
                        failure: "it ended the TLS handshake with the alert handshake_failure")
                ], chains: chains,
                keyExchange: KeyExchangeReport(
                    groups: [.x25519MLKEM768], failure: "it ended the TLS handshake with the alert handshake_failure",
                    isConclusive: true), duration: .milliseconds(1042))
        }
        let targets = [
            TargetReport(target: good, addresses: [address([chain("good.test")])]),
            TargetReport(
                target: bad, addresses: [address([chain("bad.test")])],
                caa: [
                    CAAReport(
                        name: "bad.test", isWildcard: true, place: "test",
                        records: [CAARecord(isCritical: true, tag: "iodef", value: Self.hostileName)])
                ]),
            TargetReport(target: gone, addresses: []),
        ]
        func finding(
            _ rule: FindingRule, _ target: AuditTarget, _ addresses: [String], _ message: String
        ) -> AuditFinding {
            AuditFinding(
                rule, policy: target.policy, authority: target.authority, addresses: addresses, keys: [.rsa],
                at: target.position, source: target.source, message: message)
        }
        self.report = AuditReport(
            file: "conf/päge 1.yaml", version: "9.9.9", startedAt: UnixTime(seconds: 1_790_000_000),
            moment: UnixTime(seconds: 1_790_000_000), duration: .milliseconds(2500), scope: [], targets: targets,
            findings: [
                finding(.nameMismatch, bad, [Self.address], "for \(Self.hostileName)\nsecond line"),
                finding(.unreachable, gone, [], "gone.test:443: it is gone"),
                AuditFinding(
                    .noBackupPin, policy: "first", at: SourcePosition(line: 4, column: 12),
                    source: "trust.first.pins[0]", message: "a single pin"),
                finding(.unusedPin, good, [], "a note [of a link](http://x)"),
            ])
    }

    func text(_ format: ReportFormat, failingFrom failure: Severity? = .error) -> String {
        format.write(self.report, failingFrom: failure)
    }
}
