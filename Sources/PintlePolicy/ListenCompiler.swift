// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// From the files of `listen_tls` to what TLS connections with clients are made of.
enum ListenCompiler {
    /// What a proxy speaks with its clients over TLS, as ALPN names it.
    private static let protocols = ["h2", "http/1.1", "http/1.0"]

    /// - Returns: nil where `listen_tls` is not given, and where something is wrong with it, which is reported.
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
