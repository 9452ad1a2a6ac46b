// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Whether a certificate is for a host (RFC 9525).
///
/// Only the subjectAltName counts, never the common name; a wildcard stands for the whole left-most label and no more.
enum NameRule {
    private static let flags = CUnsignedInt(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)

    /// - Parameter host: a DNS name in its ASCII form, with or without the trailing dot, or an IP address, brackets
    ///   or not.
    static func matches(host: String, leaf: X509View) -> Bool {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if let address = IPAddress(name) {
            return X509_check_ip(leaf.pointer, address.bytes, address.bytes.count, 0) == 1
        }
        guard self.isPlain(name) else { return false }
        return X509_check_host(leaf.pointer, name, name.utf8.count, self.flags, nil) == 1
    }

    /// The code that a name which does not match gets in OpenSSL.
    static func verifyError(host: String) -> CInt {
        IPAddress(host) == nil ? X509_V_ERR_HOSTNAME_MISMATCH : X509_V_ERR_IP_ADDRESS_MISMATCH
    }

    static func mismatch(host: String, leaf: X509View) -> TrustError {
        let names = leaf.names.map { $0.prefix(255) }
        let listed = names.prefix(8).joined(separator: ", ") + (names.count > 8 ? " and \(names.count - 8) more" : "")
        let found = names.isEmpty ? "no host (it has no subjectAltName; the common name does not count)" : listed
        let code = self.verifyError(host: host)
        return TrustError(
            problem: .wrongName,
            message:
                "\(host): the certificate \"\(leaf.subject.prefix(200))\" is for \(found); connect by a name that it lists, "
                + "or have it issued for this one",
            cause: String(cString: X509_verify_cert_error_string(Int(code))))
    }

    /// Letters, digits, hyphens and underscores in labels that are not empty.
    ///
    /// OpenSSL takes a leading dot for "any name below" and compares other characters as they are, an asterisk too.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty
                && label.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }
}
