// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// The certificates that audits have seen under one policy, for commands that have a history of audits.
package struct SeenKeys: Sendable, Hashable {
    /// The number of audits that saw a valid chain.
    package let audits: Int
    /// The moment at which the first of them began.
    package let since: UnixTime
    /// The certificates of these chains.
    package let certificates: [Certificate]
    /// Certificates that servers sent although the verified chain does not contain their keys.
    package let strays: [Certificate]

    package init(audits: Int, since: UnixTime, certificates: [Certificate], strays: [Certificate] = []) {
        self.audits = audits
        self.since = since
        self.certificates = certificates
        self.strays = strays
    }
}
