// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// Reads `credentials`.
enum CredentialReader {
    /// - Parameter configuration: with the trust policies and the enforcement.
    static func read(_ node: StrictNode, beside configuration: Configuration) -> [CredentialConfiguration]? {
        guard let entries = node.entries() else { return nil }
        let trust = TrustIndex(configuration)
        return entries.compactMap { entry in
            guard TrustReader.isName(entry.key) else {
                entry.value.report("a name has 1 to 64 letters, digits and -._")
                return nil
            }
            return entry.value.map(.credential).map { map in
                var credential = CredentialConfiguration(name: entry.key, position: entry.position)
                Self.readValue(map, into: &credential)
                Self.readGrants(map, into: &credential)
                Self.readTrust(map, into: &credential, trust)
                return credential
            }
        }
    }

    private static func readValue(_ map: StrictMap, into credential: inout CredentialConfiguration) {
        guard let node = map["value"] else {
            return map.node.report("the key \"value\" is missing; it says where the secret is, as in env:GITHUB_TOKEN")
        }
        guard let reference = node.reference, reference.isWhole else {
            return node.report("must be env:NAME or file:PATH: a secret does not stand in the configuration")
        }
        credential.variable = reference.variable
        credential.source = reference.file.map(node.resolve)
        map.read("variable", into: &credential.variable) { node in
            node.parsed { text throws(Malformed) in
                guard ValueReference.isVariable(text[...]), text.utf8.first.map(ASCII.isDigit) == false else {
                    throw Malformed("a variable has letters, digits and _")
                }
                return text
            }
        }
        map.read("files", into: &credential.files) { node in
            node.values { node in node.nonEmptyString().map(node.resolve) }
        }
        guard let value = node.string() else { return }
        // The text of an error must not have the value.
        guard CredentialConfiguration.lengths.contains(value.utf8.count) else {
            let (least, most) = (CredentialConfiguration.lengths.lowerBound, CredentialConfiguration.lengths.upperBound)
            return node.report(
                "\(node.quoted): a credential has \(least) to \(most) bytes; this has \(value.utf8.count)")
        }
        guard value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return node.report("\(node.quoted): a credential has visible characters of ASCII, and no spaces")
        }
        credential.value = value
    }

    private static func readGrants(_ map: StrictMap, into credential: inout CredentialConfiguration) {
        guard let node = map["for"] else {
            return map.node.report("the key \"for\" is missing; it names the requests that may have the credential")
        }
        for node in node.oneOrMore() ?? [] {
            guard let map = node.map(.credentialGrant) else { continue }
            var grant = CredentialConfiguration.Grant()
            if map["hosts"] == nil {
                node.report("the key \"hosts\" is missing: a credential is for hosts that are named")
            }
            map.read("hosts", into: &grant.hosts) { node in
                node.values { $0.parsed { text throws(Malformed) in try Self.host(text) } }
            }
            map.read("methods", into: &grant.methods) { $0.values(RouteReader.readMethod) }
            map.read("paths", into: &grant.paths) { node in
                node.values { $0.parsed { text throws(Malformed) in try PathPattern(text) } }
            }
            map.read("in", into: &grant.parts) { node in
                node.values { $0.choice(CredentialConfiguration.Part.self) }
                    .map { parts in CredentialConfiguration.Part.allCases.filter(parts.contains) }
            }
            credential.grants.append(grant)
        }
    }

    private static func host(_ text: String) throws(Malformed) -> HostPattern {
        let host = try HostPattern(text)
        if case .any = host.host { throw Malformed("a credential is for hosts that are named, not for all") }
        return host
    }

    /// Reads the trust policy. Only one that refuses what does not satisfy it can hold a credential back.
    private static func readTrust(
        _ map: StrictMap, into credential: inout CredentialConfiguration, _ index: TrustIndex
    ) {
        guard let node = map["trust"] else {
            return map.node.report(
                "the key \"trust\" is missing; it names the trust policy that the hosts must satisfy, and "
                    + "\(TrustConfiguration.defaultName) is the one for hosts without another")
        }
        let trust = node.enforcedTrust(index, otherwise: "so that it cannot hold a credential back")
        if let trust { credential.trust = trust }
    }
}
