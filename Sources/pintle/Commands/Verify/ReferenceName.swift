// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The name that a server must prove, as certificates write it.
enum ReferenceName {
    /// A name with letters of other scripts in A-labels (RFC 9525 §6.3, RFC 5891 §4.4); any other, and what is no name at
    /// all, as it is: it then matches nothing.
    static func ascii(_ host: String) -> String {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return host }
        return InternationalName.aLabels(host) ?? host
    }
}
