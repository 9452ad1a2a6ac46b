// SPDX-License-Identifier: Apache-2.0

/// A difference between two audits of the same servers.
package struct AuditChange: Sendable, Hashable {
    /// The kinds of changes, in the order in which a server's changes are listed.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The older audit did not have the server.
        case newHost = "new-host"
        /// The newer audit does not have the server.
        case hostGone = "host-gone"
        /// A key that the older audit did not see.
        case newKey = "new-key"
        /// A kind of key that the server no longer offers.
        case keyGone = "key-gone"
        /// A certificate that the older audit did not see, for a key that it did see.
        case renewedCertificate = "renewed-certificate"
        /// An authority that issued none of the server's certificates before.
        case changedIssuer = "changed-issuer"
        case newVerdict = "new-verdict"
        /// The addresses support other post-quantum groups than before.
        case changedKeyExchange = "changed-key-exchange"
        /// The names have other CAA records than before.
        case changedCAA = "changed-caa"
    }

    package let kind: Kind
    package let policy: String
    /// `HOST:PORT`.
    package let host: String
    /// The kind of key: `rsa`, `ecdsa` or `any`; nil if the change is about the server.
    package let keys: String?
    /// The old and the new state, in words for people.
    package let details: String

    /// The change as one line: `HOST (POLICY) RSA new-key: …`.
    package var line: String {
        let keys = self.keys.map { " \($0 == "any" ? $0 : $0.uppercased())" } ?? ""
        return ReportText.line("\(self.host) (\(self.policy))\(keys) \(self.kind.rawValue): \(self.details)")
    }

    /// Returns the changes from `old` to `new`. Addresses are ignored: those of a name with many addresses come and go.
    ///
    /// - Parameters:
    ///   - oldFacts: the facts of the older audit. Only facts of a kind that both audits have are compared.
    ///   - newFacts: the facts of the newer audit.
    package static func changes(
        from old: [KeyObservation], _ oldFacts: [HostFact] = [], to new: [KeyObservation], _ newFacts: [HostFact] = []
    ) -> [AuditChange] {
        let (before, after) = (Self.servers(old), Self.servers(new))
        let (factsBefore, factsAfter) = (Self.facts(oldFacts), Self.facts(newFacts))
        return Set(before.keys).union(after.keys).sorted().flatMap { server -> [AuditChange] in
            func change(_ kind: Kind, _ keys: String?, _ details: String) -> AuditChange {
                AuditChange(kind: kind, policy: server.policy, host: server.host, keys: keys, details: details)
            }
            guard let seen = after[server] else { return [change(.hostGone, nil, "it is no longer audited")] }
            guard let known = before[server] else {
                return [change(.newHost, nil, "it was not audited before; \(seen.verdicts.joined(separator: ", "))")]
            }
            var changes: [AuditChange] = []
            for (keys, leaves) in seen.leaves.sorted(by: { $0.key < $1.key }) {
                changes += Self.changes(known.leaves[keys] ?? [], leaves).map {
                    change($0.kind, keys, $0.details)
                }
            }
            // A server that cannot be reached has not withdrawn its keys.
            if !seen.leaves.isEmpty {
                for keys in known.leaves.keys.sorted() where seen.leaves[keys] == nil {
                    changes.append(change(.keyGone, keys, "no certificate with such a key is shown any more"))
                }
            }
            if known.verdicts != seen.verdicts {
                let (was, isNow) = (known.verdicts.joined(separator: ", "), seen.verdicts.joined(separator: ", "))
                changes.append(change(.newVerdict, nil, "\(was) → \(isNow)"))
            }
            for kind in HostFact.Kind.allCases {
                guard let was = factsBefore[server]?[kind], let isNow = factsAfter[server]?[kind], was != isNow else {
                    continue
                }
                let details = "\(was.joined(separator: ", ")) → \(isNow.joined(separator: ", "))"
                changes.append(change(kind == .caa ? .changedCAA : .changedKeyExchange, nil, details))
            }
            return changes
        }
    }

    private static func changes(
        _ old: [KeyObservation.Leaf], _ new: [KeyObservation.Leaf]
    ) -> [(kind: Kind, details: String)] {
        let (pins, digests) = (Set(old.map(\.pin)), Set(old.map(\.digest)))
        let before = pins.isEmpty ? "none" : pins.sorted().joined(separator: ", ")
        var changes: [(Kind, String)] = []
        for leaf in new where !digests.contains(leaf.digest) {
            let certificate = "\"\(leaf.subject.prefix(200))\" valid until \(leaf.notAfter)"
            if pins.contains(leaf.pin) {
                changes.append((.renewedCertificate, "\(leaf.pin) is now in \(certificate)"))
            } else {
                changes.append((.newKey, "\(before) → \(leaf.pin) in \(certificate)"))
            }
        }
        let issuers = Set(old.map(\.issuer))
        for issuer in Set(new.map(\.issuer)).subtracting(issuers).sorted() where !old.isEmpty {
            let names = issuers.sorted().map { "\"\($0.prefix(200))\"" }.joined(separator: ", ")
            changes.append((.changedIssuer, "\(names) → \"\(issuer.prefix(200))\""))
        }
        return changes
    }

    // MARK: Servers

    private struct Server: Hashable, Comparable {
        let policy: String
        let host: String

        static func < (left: Server, right: Server) -> Bool {
            (left.policy, left.host) < (right.policy, right.host)
        }
    }

    /// The observations of one server, at all of its addresses.
    private struct Sight {
        /// The leaf certificates by kind of key; each certificate once.
        var leaves: [String: [KeyObservation.Leaf]] = [:]
        /// The verdicts, each once, sorted.
        var verdicts: [String] = []
    }

    /// The values of each kind of fact, each once, sorted.
    private static func facts(_ facts: [HostFact]) -> [Server: [HostFact.Kind: [String]]] {
        Dictionary(grouping: facts) { Server(policy: $0.policy, host: $0.host) }.mapValues { facts in
            Dictionary(grouping: facts, by: \.kind).mapValues { Set($0.map(\.value)).sorted() }
        }
    }

    private static func servers(_ observations: [KeyObservation]) -> [Server: Sight] {
        Dictionary(grouping: observations) { Server(policy: $0.policy, host: $0.host) }.mapValues { seen in
            var sight = Sight()
            for observation in seen {
                guard let leaf = observation.leaf else { continue }
                let known = sight.leaves[observation.keys, default: []]
                if !known.contains(where: { $0.digest == leaf.digest }) {
                    sight.leaves[observation.keys] = known + [leaf]
                }
            }
            sight.verdicts = Set(seen.map(\.verdict)).sorted()
            return sight
        }
    }
}
