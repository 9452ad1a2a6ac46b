// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// What a peer sent, as OpenSSL's objects; somebody else keeps them alive.
struct PeerChain {
    let leaf: X509View
    /// `STACK_OF(X509)`: candidates for building a chain, in no order that matters.
    let untrusted: OpaquePointer?

    /// The certificates that the peer sent, leaf first; those that cannot be read are left out.
    var certificates: [Certificate] {
        let sent = X509View.all(in: self.untrusted)
        // OpenSSL's handshake puts the leaf among the untrusted ones as well.
        let isFirst = sent.first.map { X509_cmp($0.pointer, self.leaf.pointer) == 0 } ?? false
        return ((isFirst ? [] : [self.leaf]) + sent).compactMap(Certificate.init)
    }
}

extension X509View {
    /// The members of a `STACK_OF(X509)`, none for nil.
    static func all(in stack: OpaquePointer?) -> [X509View] {
        (0..<max(0, pintle_x509_stack_count(stack))).compactMap { index in
            pintle_x509_stack_value(stack, index).map(X509View.init(pointer:))
        }
    }
}

/// A chain that came without a connection: an owned `STACK_OF(X509)`, freed with its members when it goes.
struct OfflineChain: ~Copyable {
    private let stack: OpaquePointer

    init() throws(TrustError) {
        guard let stack = pintle_x509_stack_new() else { throw OpenSSLErrors.failure(of: "sk_X509_new_null") }
        self.stack = stack
    }

    deinit {
        pintle_x509_stack_free_all(self.stack)
    }

    mutating func append(_ certificate: Certificate) throws(TrustError) {
        let handle = try X509Handle(der: certificate.der, source: certificate.subject)
        let isAdded = handle.read { view in
            X509_up_ref(view.pointer)
            let isAdded = pintle_x509_stack_push(self.stack, view.pointer) > 0
            if !isAdded { X509_free(view.pointer) }
            return isAdded
        }
        guard isAdded else { throw OpenSSLErrors.failure(of: "sk_X509_push") }
    }

    /// Lends the stack itself, which may be empty.
    func lend<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        body(self.stack)
    }

    /// Lends the chain, whose first member is the leaf; `body` gets nil when there is none.
    func read<Result>(_ body: (PeerChain?) throws(TrustError) -> Result) throws(TrustError) -> Result {
        let leaf = pintle_x509_stack_value(self.stack, 0).map(X509View.init(pointer:))
        return try body(leaf.map { PeerChain(leaf: $0, untrusted: self.stack) })
    }
}
