// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// What audits have seen under one policy, for those who have a history of them.
package struct SeenKeys: Sendable, Hashable {
    /// How many audits saw a chain that holds.
    package let audits: Int
    /// When the first of them began.
    package let since: UnixTime
    /// The certificates of these chains.
    package let certificates: [Certificate]
    /// Certificates that servers sent while the chain that was verified went by other keys.
    package let strays: [Certificate]

    package init(audits: Int, since: UnixTime, certificates: [Certificate], strays: [Certificate] = []) {
        self.audits = audits
        self.since = since
        self.certificates = certificates
        self.strays = strays
    }
}
