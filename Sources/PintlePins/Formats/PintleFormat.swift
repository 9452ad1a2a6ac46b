// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// The section `trust` of Pintle's own configuration: read from a complete file, and written as a file with nothing else.
///
/// Settings without a key in the section are noted in comments before the entry's name.
enum PintleFormat {
    private static let notedKeys: Set<Note.Key> = [.maxAge, .reportURIs]

    static func read(
        _ bytes: [UInt8], _ file: String, _ surroundings: LoaderEnvironment
    ) throws(PinFormatError) -> PinFormat.Content {
        let policy: Policy
        do throws(ConfigurationError) {
            // Trust policies do not depend on lists of hosts, so none is fetched.
            policy = try PolicyLoader.draft(yaml: bytes, file: file, surroundings: surroundings).policy
        } catch {
            throw PinFormatError(error)
        }
        var notes = try Notes(lines: PinReader.lines(try PinReader.text(bytes, file)), file: file)
        var content = PinFormat.Content(sets: [], remarks: [])
        for (configuration, security) in zip(policy.configuration.trust, policy.securityPolicies) {
            let line = configuration.position.line
            let place = "\(file):\(configuration.position): trust.\(configuration.name)"
            guard configuration.pinning != .none else {
                content.remarks.append("\(place): pins nothing")
                continue
            }
            var pins: [Pin] = []
            for pin in configuration.pins {
                pins.append(try PinReader.pin(pin.value, file: file, line: pin.position.line))
            }
            var set = PinSet(pins: pins, certificates: security.certificates)
            try notes.apply(upTo: line, to: &set)
            set.hosts = PinnedHost.merged(configuration.hosts.map { PinnedHost($0.value) }).sorted()
            set.name = set.nameOrHost == configuration.name ? nil : configuration.name
            set.comparesCertificates = configuration.pinning == .certificate
            set.certificatePaths = configuration.certificates.map { CertificateFolder.absolute($0.value) }
            set.expires = configuration.expires ?? set.expires
            if configuration.expires != nil { set.onExpiry = configuration.onExpiry }
            let enforcement = configuration.enforcement ?? policy.configuration.enforcement
            set.isEnforced = enforcement == .enforce
            content.sets.append(set)
            content.remarks += Self.extras(of: configuration).map { "\(place): \($0) is not carried" }
        }
        try notes.demandEnd()
        return content
    }

    /// Returns the keys of an entry's settings that no other format has.
    private static func extras(of configuration: TrustConfiguration) -> [String] {
        var extras: [String] = []
        if configuration.roots != .system { extras.append("roots") }
        if !configuration.extraRoots.isEmpty { extras.append("extra_roots") }
        if configuration.allowInvalidCertificates { extras.append("allow_invalid_certificates") }
        if !configuration.validatesDomainName { extras.append("validates_domain_name") }
        if configuration.match != .any { extras.append("match") }
        if configuration.form != .report { extras.append("form") }
        if configuration.allowCommonName { extras.append("allow_common_name") }
        if configuration.minTLS != nil { extras.append("min_tls") }
        if !configuration.revocationLists.isEmpty { extras.append("crl_files") }
        return extras
    }

    static func write(_ sets: [PinSet], _ writer: inout PinWriter) throws(PinFormatError) {
        try PinSet.demandOwnHosts(sets, .pintle)
        writer.lines = ["version: \(Configuration.version)", "trust:"]
        var names: Set<String> = ["system"]
        var numbers: [Substring: Int] = [:]
        for set in sets {
            writer.lines += writer.notes(of: set, Self.notedKeys).map { "  # \($0)" }
            let name = Self.name(of: set, &names, &numbers, &writer)
            writer.lines.append("  \(name):")
            Self.write(set, &writer)
        }
    }

    private static func write(_ set: PinSet, _ writer: inout PinWriter) {
        let patterns = set.hosts.flatMap { host -> [String] in
            guard host.scope == .oneLabelBelow else { return host.spellings }
            writer.lose(
                "\(set.nameOrHost): one label below \(host.name) alone: pintle has the pins for everything below it")
            return PinnedHost(host.name, .below, port: host.port).spellings
        }
        if !patterns.isEmpty {
            writer.lines.append("    hosts: [\(patterns.map(\.yamlQuoted).joined(separator: ", "))]")
        }
        writer.lines.append("    pinning: \(set.comparesCertificates ? "certificate" : "public_key")")
        if !set.comparesCertificates {
            writer.lines.append("    pins:")
            let labels = Dictionary(
                set.certificates.map { ($0.spkiPin, $0.shortLabel) }, uniquingKeysWith: { first, _ in first })
            writer.lines += set.pins.map { pin in
                let label = writer.isBare ? "" : labels[pin].map { "  # \($0)" } ?? ""
                return "      - \"\(pin)\"\(label)"
            }
        }
        if !set.certificatePaths.isEmpty {
            writer.lines.append("    certificates:")
            writer.lines += set.certificatePaths.map { "      - \($0.yamlQuoted)" }
        }
        if let expires = set.expires {
            writer.lines += ["    expires: \(expires.spelled)", "    on_expiry: \(set.onExpiry.rawValue)"]
        }
        if !set.isEnforced { writer.lines.append("    enforcement: report") }
    }

    /// Returns a name that is not taken yet; `system` is reserved, and `default` would apply to every host without an
    /// entry.
    ///
    /// - Parameter numbers: the next number for each beginning of a name that was taken before.
    private static func name(
        of set: PinSet, _ taken: inout Set<String>, _ numbers: inout [Substring: Int], _ writer: inout PinWriter
    ) -> String {
        let base = PinSet.fit(set.nameOrHost)
        let beginning = base.prefix(60)
        var name = base == "default" && set.name == nil ? "default-host" : base
        var number = numbers[beginning] ?? 2
        while !taken.insert(name).inserted {
            name = "\(beginning)-\(number)"
            number += 1
        }
        numbers[beginning] = number
        if let given = set.name, given != name { writer.lose("the name \(given.shown): the policy is called \(name)") }
        return name.yamlKey
    }
}

extension String {
    /// The text as a key of YAML: in quotes unless it can only be read as text.
    var yamlKey: String {
        let words: Set<String> = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
        let isPlain = self.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-._".contains(Character(scalar)))
        }
        let begins = self.unicodeScalars.first.map { $0.isASCII && $0.properties.isAlphabetic } ?? false
        return isPlain && begins && !words.contains(self.lowercased()) ? self : self.yamlQuoted
    }

    /// The text in quotes for YAML.
    package var yamlQuoted: String {
        var text = "\""
        for scalar in self.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            default:
                if scalar.isDeceptive {
                    let digits = String(scalar.value, radix: 16, uppercase: true)
                    let (mark, width) = digits.count > 4 ? ("\\U", 8) : ("\\u", 4)
                    text += mark + String(repeating: "0", count: width - digits.count) + digits
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        return text + "\""
    }
}
