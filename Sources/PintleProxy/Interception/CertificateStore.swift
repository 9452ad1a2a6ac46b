// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleTrust

/// Issues certificates for intercepted hosts, and keeps them in memory for the tunnels that come later, on all loops.
final class CertificateStore: Sendable {
    private struct Entry: Sendable {
        let identity: ClientIdentity
        let start: UnixTime
        let end: UnixTime

        /// False also where the clock was set back behind the start, after it had jumped ahead.
        func isFit(at now: UnixTime) -> Bool {
            self.start <= now && self.end.seconds - CertificateStore.remainder > now.seconds
        }
    }

    let authority: CertificateAuthority
    private let entries = NIOLockedValueBox<[[CertifiedName]: Entry]>([:])

    /// A client names hosts as it likes; a certificate takes some 3 KiB.
    private static let mostEntries = 4096
    /// A connection may outlive its handshake by hours, and clocks differ: a certificate is replaced in its last day.
    private static let remainder: Int64 = 86_400

    init(_ authority: CertificateAuthority) { self.authority = authority }

    /// The certificate for these names; nil where it must be issued first.
    func identity(for names: [CertifiedName], at now: UnixTime = .now) -> ClientIdentity? {
        self.entries.withLockedValue { entries in
            entries[names].flatMap { $0.isFit(at: now) ? $0.identity : nil }
        }
    }

    /// Issues a certificate and keeps it. Takes some 150 µs of a processor, so it is not for a loop.
    ///
    /// - Throws: what the authority throws.
    func issue(for names: [CertifiedName]) throws(TrustError) -> ClientIdentity {
        let identity = try self.authority.identity(for: names)
        guard let leaf = identity.chain.first else { return identity }
        self.entries.withLockedValue { entries in
            // Which one goes is all the same: it is issued again when it is asked for.
            if entries.count >= Self.mostEntries, let some = entries.keys.first { entries[some] = nil }
            entries[names] = Entry(identity: identity, start: leaf.notBefore, end: leaf.notAfter)
        }
        return identity
    }
}
