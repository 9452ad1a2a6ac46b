// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The check that a certificate is for a host (RFC 9525).
///
/// Only the subjectAltName counts. A wildcard stands for the whole leftmost label and no more, and never directly before a
/// public suffix, where it would stand for the names of strangers. A policy may accept the common name of a certificate
/// that has no alternative names at all.
struct NameRule {
    let allowsCommonName: Bool

    /// - Parameter host: a DNS name in its ASCII form, with or without the trailing dot, or an IP address, with or without
    ///   brackets.
    func matches(host: String, leaf: PathCertificate) -> Bool {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        let subject = leaf.facts.subject
        var presented = leaf.facts.extensions.alternativeNames ?? []
        if presented.isEmpty && self.allowsCommonName {
            presented = subject.commonNames.map(GeneralName.init(commonName:))
        }
        if let address = IPAddressName(host: name) { return presented.contains(.address(address.bytes)) }
        guard let wanted = DNSName(Array(name.utf8)), !wanted.isWildcard, !wanted.looksLikeAddress else { return false }
        return presented.contains { presented in
            guard case .dns(let bytes) = presented, let pattern = DNSName(bytes) else { return false }
            return NameRule.matches(wanted.withoutWildcard, pattern)
        }
    }

    private static func matches(_ host: [UInt8], _ pattern: DNSName) -> Bool {
        guard pattern.isWildcard else { return DNSName.isEqual(host, pattern.withoutWildcard) }
        guard DNSName.isChild(host, of: pattern.withoutWildcard) else { return false }
        return !PublicSuffixes.contains(pattern.withoutWildcard)
    }

    /// Returns OpenSSL's code for a name that does not match.
    static func verifyError(host: String) -> CInt {
        IPAddressName(host: host) == nil ? X509_V_ERR_HOSTNAME_MISMATCH : X509_V_ERR_IP_ADDRESS_MISMATCH
    }

    static func mismatch(host: String, leaf: Certificate) -> TrustError {
        let names = leaf.names.map { $0.prefix(255) }
        let listed = names.prefix(8).joined(separator: ", ") + (names.count > 8 ? " and \(names.count - 8) more" : "")
        let found = names.isEmpty ? "no host (it has no subjectAltName; the common name does not count)" : listed
        let code = self.verifyError(host: host)
        return TrustError(
            rule: .hostName,
            message:
                "\(host): the certificate \"\(leaf.subject.prefix(200))\" is for \(found); connect by a name that it lists, "
                + "or have it issued for this one",
            cause: String(cString: X509_verify_cert_error_string(Int(code))))
    }
}
