// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The certificates that a peer sent: its leaf, and candidates for building a chain, in any order.
struct PeerChain {
    let leaf: PathCertificate
    /// The other certificates that can be read; unreadable ones are part of no path.
    let others: [PathCertificate]

    /// Reads the certificates of a handshake.
    ///
    /// - Parameter others: the certificates that the server sent beside the leaf; see `sent(beside:in:)`.
    /// - Returns: nil if the leaf cannot be read, so that no other certificate takes its place.
    init?(leaf: X509View, others: [X509View]) {
        guard let read = PathCertificate(leaf) else { return nil }
        self.leaf = read
        self.others = others.compactMap(PathCertificate.init)
    }

    /// Returns the first certificates that a server sent beside its leaf, as many as a handshake considers.
    ///
    /// - Parameter untrusted: a `STACK_OF(X509)`.
    static func sent(beside leaf: X509View, in untrusted: OpaquePointer?) -> [X509View] {
        let sent = X509View.all(in: untrusted)
        // In a handshake, OpenSSL lists the leaf among the untrusted certificates as well.
        let isFirst = sent.first.map { X509_cmp($0.pointer, leaf.pointer) == 0 } ?? false
        return Array(sent.dropFirst(isFirst ? 1 : 0).prefix(SearchBudget.handshake.certificates))
    }

    /// Takes certificates that were read before, leaf first.
    ///
    /// - Returns: nil if there are none.
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
