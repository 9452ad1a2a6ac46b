// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem
package import PintleTrust

/// A chain in the form in which `pintle pins show` prints it, with an entry of `trust` for it.
package struct ChainReport: Sendable, Encodable {
    /// One certificate.
    package struct Link: Sendable, Encodable {
        /// The number from 1, in the order of the file or of the handshake.
        package let number: Int
        /// `leaf`, `intermediate` or `root`.
        package let role: String
        package let subject: String
        package let issuer: String
        /// The serial number in upper-case hexadecimal.
        package let serial: String
        /// The first moment of validity, in ISO 8601, in UTC.
        package let notBefore: String
        /// The last moment of validity, in ISO 8601, in UTC.
        package let notAfter: String
        /// The kind and size of the key, for example `EC P-256`.
        package let key: String
        package let names: [String]
        package let pin: String

        fileprivate let label: String
    }

    /// An entry of `trust` that `pintle check` accepts.
    package struct Entry: Sendable, Encodable {
        package let hosts: [String]?
        package let pinning: String
        package let pins: [String]
    }

    /// The host in the spelling of the command; nil for a file.
    package let host: String?
    package let chain: [Link]
    /// A single entry, under its name.
    package let trust: [String: Entry]
    /// True if the chain leads to a root of this machine and names the host; nil for a file, which is not judged.
    package let isTrusted: Bool?
    /// The reason why it is not trusted.
    package let refusal: String?

    private enum CodingKeys: String, CodingKey {
        case host, chain, trust
        case isTrusted = "trusted"
        case refusal = "error"
    }

    /// - Parameters:
    ///   - certificates: the chain, leaf first, at least one.
    ///   - host: the host and port in the spelling of the command.
    ///   - pattern: the host pattern of the entry; nil for the leaf's own names.
    package init(
        _ certificates: [Certificate], host: String? = nil, pattern: String? = nil, isTrusted: Bool? = nil,
        refusal: String? = nil
    ) {
        self.host = host
        self.isTrusted = isTrusted
        self.refusal = refusal
        self.chain = certificates.enumerated().map { Link($1, number: $0 + 1) }
        let names = certificates.first?.names ?? []
        let hosts = (pattern.map { [$0] } ?? names).compactMap { PinnedHost($0) }
        let set = PinSet(hosts: hosts, pins: certificates.prefix(1).map(\.spkiPin))
        let entry = Entry(
            hosts: hosts.isEmpty ? nil : set.hosts.flatMap(\.spellings), pinning: "public_key",
            pins: set.pins.map(\.description))
        self.trust = [set.nameOrHost: entry]
    }

    // MARK: Words

    /// The report as text: a table of the chain, then the entry.
    package var text: String {
        var lines: [String] = []
        if let host = self.host { lines += [host, ""] }
        for link in self.chain { lines += link.lines + [""] }
        lines += ["Entry for the configuration:", ""]
        return (lines + self.entryLines.map { $0.isEmpty ? "" : "  \($0)" }).joined(separator: "\n")
    }

    /// The entry as a complete configuration, with the chain in comments before it.
    package var yaml: String {
        var lines: [String] = []
        if let host = self.host { lines += ["# The chain that \(host) showed, leaf first."] }
        for link in self.chain { lines += link.lines.map { "# \($0)" } }
        return (lines + self.entryLines).joined(separator: "\n")
    }

    private var entryLines: [String] {
        var lines = ["version: 1", "trust:"]
        for (name, entry) in self.trust {
            lines.append("  \(name.yamlKey):")
            if let hosts = entry.hosts {
                lines.append("    hosts: [\(hosts.map(\.yamlQuoted).joined(separator: ", "))]")
            } else {
                lines.append("    # The certificate names no host: add hosts: [\"api.example.com\"].")
            }
            lines += ["    pinning: \(entry.pinning)", "    pins:"]
        }
        for link in self.chain {
            // An authority's key accepts every certificate that it ever signs, so its pin is only suggested in a comment.
            let mark = link.number == 1 ? "- " : "# - "
            lines.append("      \(mark)\"\(link.pin)\"  # \(link.role): \(link.label)")
        }
        lines += [
            "      # No backup yet: add the pin of a key that is kept elsewhere and shown by no server,",
            "      # or of an authority above, before this one has to be replaced.",
        ]
        return lines
    }
}

extension ChainReport.Link {
    private enum CodingKeys: String, CodingKey {
        case number, role, subject, issuer, serial
        case notBefore = "not_before"
        case notAfter = "not_after"
        case key, names, pin
    }

    fileprivate init(_ certificate: Certificate, number: Int) {
        let key = try? CertificateKey(of: certificate)
        self.number = number
        // The first certificate is the server's, even if it is signed by itself.
        self.role = number == 1 ? "leaf" : certificate.isSelfIssued ? "root" : "intermediate"
        self.subject = certificate.subject.plain
        self.issuer = certificate.issuer.plain
        self.serial = certificate.serial
        self.notBefore = "\(certificate.notBefore)"
        self.notAfter = "\(certificate.notAfter)"
        self.key = key?.description ?? "unknown"
        self.names = certificate.names
        self.pin = "\(certificate.spkiPin)"
        self.label = certificate.shortLabel
    }

    fileprivate var lines: [String] {
        let fields = [
            ("issuer", self.issuer), ("expires", self.notAfter), ("key", self.key),
            ("names", self.names.joined(separator: ", ")), ("pin", self.pin),
        ]
        let head = "\(self.number) \(self.role): \(self.subject.isEmpty ? "no subject" : self.subject)"
        return [head]
            + fields.filter { !$0.1.isEmpty }.map { name, value in
                "  \(name)\(String(repeating: " ", count: 9 - name.count))\(value)"
            }
    }
}

extension String {
    /// The text on one line without controls and invisible marks, cut short: a peer may have chosen it.
    package var plain: String {
        var text = String.UnicodeScalarView()
        for scalar in self.unicodeScalars.prefix(200) {
            text.append(scalar.isDeceptive ? "?" : scalar)
        }
        return String(text) + (self.unicodeScalars.count > 200 ? "…" : "")
    }
}
