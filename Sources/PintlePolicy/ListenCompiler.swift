// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// Makes the TLS context for connections with clients from the files of `listen_tls`.
enum ListenCompiler {
    /// The protocols that the proxy speaks with clients over TLS, by their ALPN names.
    private static let protocols = ["h2", "http/1.1", "http/1.0"]

    /// - Returns: nil if `listen_tls` is not given, or after a fault in it was reported.
    static func compile(_ configuration: Configuration, report: TrustCompiler.Report) -> TLSServerContext? {
        guard let files = configuration.listenTLS else { return nil }
        do throws(TrustError) {
            let identity = try ClientIdentity(
                certificateFile: files.certificate.value, keyFile: files.key?.value, password: files.password)
            return try TLSServerContext(identity: identity, protocols: Self.protocols)
        } catch {
            report(error.description, "listen_tls", files.certificate.position)
            return nil
        }
    }
}
