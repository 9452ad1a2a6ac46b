// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem
internal import PintleTrust

/// Issues certificates for intercepted hosts, and keeps them in memory for later tunnels, on all event loops.
final class CertificateStore: Sendable {
    private struct Entry: Sendable {
        let identity: ClientIdentity
        let start: UnixTime
        let end: UnixTime

        /// False also if the clock was set back to before the start, after it had jumped ahead.
        func isFit(at now: UnixTime) -> Bool {
            self.start <= now && self.end.seconds - CertificateStore.remainder > now.seconds
        }
    }

    let authority: CertificateAuthority
    private let entries = Locked<[[CertifiedName]: Entry]>([:])

    /// Limited, because clients choose the hosts; a certificate takes about 3 KiB.
    private static let mostEntries = 4096
    /// In seconds. A certificate is replaced one day before it expires, because a connection may last for hours, and clocks
    /// differ.
    private static let remainder: Int64 = 86_400

    init(_ authority: CertificateAuthority) { self.authority = authority }

    /// The certificate for these names; nil if it must be issued first.
    func identity(for names: [CertifiedName], at now: UnixTime = .now) -> ClientIdentity? {
        self.entries.withLock { entries in
            entries[names].flatMap { $0.isFit(at: now) ? $0.identity : nil }
        }
    }

    /// Issues and keeps a certificate. It takes about 150 µs of processor time; do not call it on an event loop.
    ///
    /// - Throws: errors of the authority.
    func issue(for names: [CertifiedName]) throws(TrustError) -> ClientIdentity {
        let identity = try self.authority.identity(for: names)
        guard let leaf = identity.chain.first else { return identity }
        self.entries.withLock { entries in
            // Any entry may be removed: its certificate is issued again when needed.
            if entries.count >= Self.mostEntries, let some = entries.keys.first { entries[some] = nil }
            entries[names] = Entry(identity: identity, start: leaf.notBefore, end: leaf.notAfter)
        }
        return identity
    }
}
