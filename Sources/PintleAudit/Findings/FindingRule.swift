// SPDX-License-Identifier: Apache-2.0

/// The rules of an audit. The number of a rule never changes.
package enum FindingRule: Int, Sendable, Hashable, CaseIterable, Comparable {
    case pinMismatch = 101
    case noBackupPin = 102
    case certificateExpiring = 103
    case pinSetExpiring = 104
    case unusedPin = 105
    case nameMismatch = 106
    case chainIncomplete = 107
    case weakKey = 108
    case oldProtocol = 109
    case addressDisagreement = 110
    case selfSigned = 111
    case unreachable = 112
    case expired = 113
    case untrustedChain = 114
    case handshakeFailed = 115
    case notYetValid = 116
    case certificateInvalid = 117
    case pinSetExpired = 118
    case notAudited = 119
    case badForm = 120
    case lifetimeTooLong = 121
    case lifetimeShrinking = 122
    case noTLS13 = 123
    case noPostQuantum = 124
    case brokenDigest = 125
    case caaMissing = 126
    case caaForbids = 127
    case caaUnknown = 128

    /// The rule's id: `PINTLE0101`.
    package var id: String { "PINTLE0\(self.rawValue)" }

    package static func < (left: FindingRule, right: FindingRule) -> Bool { left.rawValue < right.rawValue }

    /// The rule's name for people, which is also the type of a failure in JUnit reports: `pin-mismatch`.
    package var name: String { self.words.name }

    /// A description of one sentence.
    package var summary: String { self.words.summary }

    /// Advice for the reader of the report.
    package var remedy: String { self.words.remedy }

    /// The severity of the rule's findings, unless a finding has its own.
    package var severity: Severity {
        switch self {
        case .pinMismatch, .nameMismatch, .chainIncomplete, .weakKey, .oldProtocol, .selfSigned, .unreachable,
            .expired, .untrustedChain, .handshakeFailed, .notYetValid, .certificateInvalid, .pinSetExpired:
            .error
        case .noBackupPin, .certificateExpiring, .pinSetExpiring, .addressDisagreement, .badForm, .lifetimeTooLong,
            .brokenDigest, .caaForbids:
            .warning
        case .unusedPin, .notAudited, .lifetimeShrinking, .noTLS13, .noPostQuantum, .caaMissing, .caaUnknown: .note
        }
    }

    private var words: (name: String, summary: String, remedy: String) {
        switch self {
        case .pinMismatch:
            (
                "pin-mismatch", "The server's chain contains nothing that the policy pins.",
                "If the server's owner announced a new key, add its pin before the old one is removed. Otherwise find "
                    + "out who answers in the server's place."
            )
        case .noBackupPin:
            (
                "no-backup-pin", "The policy pins a single key: when it is replaced nothing gets through.",
                "Generate a second key, keep it off line, and add its pin."
            )
        case .certificateExpiring:
            (
                "certificate-expiring", "A certificate of the chain expires soon.",
                "Have it renewed, and see that the renewal keeps a key that is pinned."
            )
        case .pinSetExpiring:
            (
                "pin-set-expiring", "The policy's pins expire soon.",
                "Check that they are still right, and set expires to a later date."
            )
        case .unusedPin:
            (
                "unused-pin", "A pin was found in no chain of its policy's servers.",
                "Right for a backup key. If it is of a key that is gone, remove it."
            )
        case .nameMismatch:
            (
                "name-mismatch", "The certificate is not for the host.",
                "Have a certificate issued that lists the host, or connect by a name that it lists."
            )
        case .chainIncomplete:
            (
                "chain-incomplete", "The server does not send the certificate that its own is issued by.",
                "Have the server send its intermediates. If the issuer is a root of your own, add it to extra_roots."
            )
        case .weakKey:
            (
                "weak-key", "A key is too short, or a signature's digest too weak, to trust.",
                "Have the certificate issued anew, with RSA of 2048 bits or more or an elliptic curve, and SHA-256."
            )
        case .oldProtocol:
            (
                "old-protocol",
                "The server accepts TLS 1.0 or 1.1, which RFC 8996 forbids, or nothing that the policy takes.",
                "Have the server accept TLS 1.2 and 1.3, and nothing older."
            )
        case .addressDisagreement:
            (
                "address-disagreement", "The host's addresses show different keys or chains.",
                "If that is no roll-out under way, find the machine that was forgotten; pin every key that is meant."
            )
        case .selfSigned:
            (
                "self-signed", "The certificate vouches for itself.",
                "Have it issued by an authority, or add it to extra_roots if you trust it."
            )
        case .unreachable:
            (
                "unreachable", "No connection could be made.",
                "See that the name, the port and the network are right, and that the server runs."
            )
        case .expired:
            (
                "expired", "A certificate of the chain has expired.",
                "Have it renewed at once; no client should accept it."
            )
        case .untrustedChain:
            (
                "untrusted-chain", "The chain does not lead to a root of the policy.",
                "Add the root to extra_roots if you trust it. Otherwise find out who answers in the server's place."
            )
        case .handshakeFailed:
            (
                "handshake-failed", "There is a server, but no TLS handshake with it.",
                "See that the port is one for TLS, and that the server accepts TLS 1.2 or 1.3."
            )
        case .notYetValid:
            (
                "not-yet-valid", "A certificate of the chain is not valid yet.",
                "Check this machine's clock, and the server's roll-out."
            )
        case .certificateInvalid:
            (
                "certificate-invalid", "The chain breaks a rule for servers' certificates.",
                "Have the certificate issued anew; the message says what is wrong with it."
            )
        case .pinSetExpired:
            (
                "pin-set-expired", "The policy's pins have expired.",
                "Check that they are still right, and set expires to a later date."
            )
        case .notAudited:
            (
                "not-audited", "A host pattern stands for servers that nobody named.",
                "Audit one of them with --host."
            )
        case .badForm:
            (
                "bad-form", "A certificate breaks a rule of form that public authorities keep.",
                "Have it issued anew when it is renewed. With form: strict the policy refuses such chains."
            )
        case .lifetimeTooLong:
            (
                "lifetime-too-long", "A public certificate is valid for longer than public authorities may issue.",
                "Have it issued anew for a shorter time: browsers refuse it as it is."
            )
        case .lifetimeShrinking:
            (
                "lifetime-shrinking", "A public certificate is valid for longer than its successors may be.",
                "Have a program renew it, as with ACME, and pin keys that outlive renewals."
            )
        case .noTLS13:
            (
                "no-tls13", "The server accepts no TLS 1.3, without which key exchange cannot be post-quantum.",
                "Have the server accept TLS 1.3 as well."
            )
        case .noPostQuantum:
            (
                "no-post-quantum", "The server supports no post-quantum group for the key exchange.",
                "Have the server offer X25519MLKEM768: what is recorded today could be read once there are quantum "
                    + "computers."
            )
        case .brokenDigest:
            (
                "broken-digest", "The server sends a certificate whose signature could be forged.",
                "Have the server leave it out, or send one that is signed with SHA-256."
            )
        case .caaMissing:
            (
                "caa-missing", "No CAA record restricts the authorities that may certify the name.",
                "Publish a CAA record with an issue property that names your authority."
            )
        case .caaForbids:
            (
                "caa-forbids", "The CAA records let no public authority certify the name.",
                "Publish a CAA record with an issue property that names your authority, before the certificate is renewed."
            )
        case .caaUnknown:
            (
                "caa-unknown", "The CAA records could not be looked up.",
                "See that the name servers answer questions for CAA: an authority that gets no answer does not issue."
            )
        }
    }
}

/// The severity of a finding.
package enum Severity: Int, Sendable, Hashable, CaseIterable, Comparable, CustomStringConvertible {
    /// Good to know; nothing needs to be done.
    case note
    /// A problem that is coming, or a state that should not last.
    case warning
    /// Requests fail, or should fail.
    case error

    package static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }

    /// `error`, `warn` or `note`.
    package var description: String {
        switch self {
        case .note: "note"
        case .warning: "warn"
        case .error: "error"
        }
    }
}
