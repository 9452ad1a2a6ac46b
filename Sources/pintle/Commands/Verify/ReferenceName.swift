// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The name that a server must prove, in the form of certificates.
enum ReferenceName {
    /// Converts a name with letters of other scripts to A-labels (RFC 9525 §6.3, RFC 5891 §4.4). Other names, and invalid
    /// ones, are unchanged; an invalid one then matches nothing.
    static func ascii(_ host: String) -> String {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return host }
        return InternationalName.aLabels(host) ?? host
    }
}
