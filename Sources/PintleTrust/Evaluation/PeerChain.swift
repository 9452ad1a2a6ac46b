// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// What a peer sent: its leaf, and candidates for building a chain in no order that matters.
struct PeerChain {
    let leaf: PathCertificate
    /// What of the rest can be read; what cannot be is no part of any path.
    let others: [PathCertificate]

    /// Reads what a handshake has.
    ///
    /// - Parameter others: what the server sent beside it; see `sent(beside:in:)`.
    /// - Returns: nil when the leaf cannot be read: another certificate would stand in its place.
    init?(leaf: X509View, others: [X509View]) {
        guard let read = PathCertificate(leaf) else { return nil }
        self.leaf = read
        self.others = others.compactMap(PathCertificate.init)
    }

    /// The first certificates that a server sent beside its leaf, as many as a handshake looks at.
    ///
    /// - Parameter untrusted: `STACK_OF(X509)`.
    static func sent(beside leaf: X509View, in untrusted: OpaquePointer?) -> [X509View] {
        let sent = X509View.all(in: untrusted)
        // OpenSSL's handshake puts the leaf among the untrusted ones as well.
        let isFirst = sent.first.map { X509_cmp($0.pointer, leaf.pointer) == 0 } ?? false
        return Array(sent.dropFirst(isFirst ? 1 : 0).prefix(WorkBudget.handshake.certificates))
    }

    /// Takes what was read before.
    ///
    /// - Returns: nil when there is nothing.
    init?(_ certificates: [PathCertificate]) {
        guard let leaf = certificates.first else { return nil }
        self.leaf = leaf
        self.others = Array(certificates.dropFirst())
    }

    /// The certificates that the peer sent, leaf first.
    var certificates: [Certificate] {
        [self.leaf.certificate] + self.others.map(\.certificate)
    }
}
