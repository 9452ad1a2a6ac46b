// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

extension X509View {
    /// Returns the members of a `STACK_OF(X509)`; none for nil.
    static func all(in stack: OpaquePointer?) -> [X509View] {
        (0..<max(0, pintle_x509_stack_count(stack))).compactMap { index in
            pintle_x509_stack_value(stack, index).map(X509View.init(pointer:))
        }
    }
}

/// Certificates for OpenSSL: an owned `STACK_OF(X509)`, freed with its members.
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

    /// Lends the stack, which may be empty.
    func lend<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        body(self.stack)
    }
}
