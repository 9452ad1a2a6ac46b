// SPDX-License-Identifier: Apache-2.0

internal import PintleAudit
internal import PintlePins
internal import PintleTape
internal import PintleTrust

extension ReferencePages {
    static var findings: ReferencePage {
        ReferencePage(
            topic: .findings,
            introduction: [
                "Reports name the rule of each finding by an id that never changes. JSON and SARIF have the id, JUnit and text "
                    + "the name."
            ],
            sections: [
                .init(
                    title: "Audits", text: "Of `pintle audit`.", kind: "rule",
                    entries: FindingRule.allCases.map { rule in
                        .init(
                            rule.id,
                            [
                                ("name", rule.name), ("severity", rule.severity.description),
                                ("what to do", rule.remedy),
                            ], rule.summary)
                    }),
                .init(
                    title: "Pins", text: "Of `pintle pins lint`.", kind: "rule",
                    entries: PinLintRule.allCases.map {
                        .init($0.rawValue, [("name", $0.name), ("what to do", $0.remedy)], $0.meaning)
                    }),
                .init(
                    title: "Runs", text: "Of `pintle run`.", kind: "rule",
                    entries: RunRule.allCases.map {
                        .init($0.id, [("name", $0.name), ("what to do", $0.remedy)], $0.summary)
                    }),
                .init(
                    title: "Policy tests", text: "Of `pintle test`.", kind: "rule",
                    entries: TestRule.allCases.map {
                        .init($0.id, [("name", $0.name), ("severity", $0.level)], $0.summary)
                    }),
                .init(
                    title: "Recordings", text: "Of `pintle tapes lint`.", kind: "kind",
                    entries: TapeFinding.Kind.allCases.map { .init($0.rawValue, [], $0.meaning) }),
                .init(
                    title: "Chains",
                    text:
                        "Rules of `pintle verify`, of audits, and of the problem `certificate-invalid`. A rule of form is one "
                        + "that public authorities keep, and whose breach deceives no client: it is reported, and refused by "
                        + "policies with `form: strict`.",
                    kind: "rule",
                    entries: Rule.allCases.map { .init($0.rawValue, [("form", $0.isForm ? "yes" : "no")], $0.demand) }),
            ], more: ["audit.md", "pins.md", "run.md", "testing-policies.md", "recordings.md", "trust.md"])
    }
}

extension TapeFinding.Kind {
    fileprivate var meaning: String {
        switch self {
        case .broken: "A file cannot be read, or is not as it was written."
        case .incomplete: "A recording has no body, or a body no recording."
        case .secret: "A secret was left; mask its place with `recordings.redact` and record anew."
        case .entropy: "A text may be a secret, because it looks random."
        case .age: "The recording is older than `recordings.max_age`."
        case .contract: "The response breaks the contract that its route has now."
        }
    }
}

extension PinLintRule {
    fileprivate var meaning: String {
        switch self {
        case .noBackup: "A policy has a single key."
        case .shortLivedLeaf: "A pinned certificate of a server is renewed so often that its key cannot be relied on."
        case .neverMatched: "Audits never saw the key of a pin, and it is more than the one backup that a policy needs."
        case .duplicate: "Two pinned certificates of a policy have one key, or one is named twice."
        case .expiredCertificate: "A pinned certificate has expired."
        case .expiringCertificate: "A pinned certificate expires soon (`warn_before_expiry`)."
        case .expiredPins: "The pins of a policy have expired (`expires`)."
        case .expiringPins: "The pins of a policy expire soon."
        case .weakKey: "A pinned key is too short to trust."
        case .unusedPolicy: "No host and no route uses a policy."
        case .twoPolicies: "Two policies claim one host."
        case .besidePath: "Servers send a certificate with the pinned key, but verified chains do not contain it."
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .noBackup: "Make a second key, keep it off line, and add its pin."
        case .shortLivedLeaf: "Pin the key of an intermediate or a root, or a key that renewals keep."
        case .neverMatched: "Remove the pin if its key is gone."
        case .duplicate: "Remove one of them."
        case .expiredCertificate, .expiringCertificate: "Pin the certificate that follows it, before it is in use."
        case .expiredPins, .expiringPins: "Check that they are still right, and set `expires` to a later date."
        case .weakKey: "Have the certificate issued anew, with RSA of 2048 bits or more or an elliptic curve."
        case .unusedPolicy: "Give it `hosts`, name it in a route, or remove it."
        case .twoPolicies: "Leave the host to one of them."
        case .besidePath: "Pin a certificate of the verified chain; `pintle pins show HOST` prints it."
        }
    }
}
