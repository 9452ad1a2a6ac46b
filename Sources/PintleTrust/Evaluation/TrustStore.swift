// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc

/// An `X509_STORE`: the trust anchors of a policy, loaded once.
///
/// `@unchecked Sendable`, because the compiler cannot see into the pointer. The store is filled in `init`, before
/// anybody else knows of it, and never changed by us afterwards. What OpenSSL itself does with it later (looking up
/// issuers, caching what a lookup in a folder found) happens under the store's own lock, and its reference count is
/// atomic.
final class TrustStore: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Where distributions keep their bundle when OpenSSL was not built to look there.
    private static let commonBundles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// The anchors of a policy's `roots` and `extraRoots`.
    convenience init(roots: SecurityPolicy.Roots, extraRoots: [Certificate]) throws(TrustError) {
        switch roots {
        case .system:
            try self.init(anchors: extraRoots)
            self.addSystemRoots()
        case .only(let anchors):
            try self.init(anchors: anchors + extraRoots)
        }
    }

    /// These anchors and no others.
    init(anchors: [Certificate]) throws(TrustError) {
        OpenSSLErrors.clear()
        guard let store = X509_STORE_new() else { throw OpenSSLErrors.failure(of: "X509_STORE_new") }
        self.pointer = store
        // A configured anchor is one as it is, intermediate or leaf: that is what configuring it meant.
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN))
        for anchor in anchors {
            let handle = try X509Handle(der: anchor.der, source: "trust anchor \(anchor.subject)")
            guard handle.read({ X509_STORE_add_cert(store, $0.pointer) }) == 1 else {
                throw OpenSSLErrors.failure(of: "X509_STORE_add_cert")
            }
        }
    }

    deinit {
        X509_STORE_free(self.pointer)
    }

    /// Called by `init` only. A machine without roots ends up with none, and every chain is then refused.
    private func addSystemRoots() {
        // Reads SSL_CERT_FILE and SSL_CERT_DIR, or the places that OpenSSL was built with.
        X509_STORE_set_default_paths(self.pointer)
        // Who sets one of these replaces the system's roots; adding the system's bundle would undo that.
        let isReplaced = getenv("SSL_CERT_FILE") != nil || getenv("SSL_CERT_DIR") != nil
        if !isReplaced, let bundle = TrustStore.commonBundles.first(where: { access($0, R_OK) == 0 }) {
            X509_STORE_load_file(self.pointer, bundle)
        }
        // A missing default file is no error here.
        OpenSSLErrors.clear()
    }
}
