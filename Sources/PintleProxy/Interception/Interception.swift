// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// State shared by all intercepted tunnels of a configuration.
final class Interception: Sendable {
    let certificates: CertificateStore
    /// For the handshakes with clients.
    let context: TLSServerContext
    /// Survives a change of the configuration, because pinning is a property of the clients.
    let pinningClients: PinningClients
    private let passesThroughOnAlert: Bool

    /// - Parameter previous: that of the previous configuration; its certificates are reused if the authority is the same.
    /// - Throws: `.library` for an error of OpenSSL.
    init(
        _ configuration: InterceptionConfiguration, by authority: CertificateAuthority,
        continuing previous: Interception?
    ) throws(TrustError) {
        let isSame = previous?.certificates.authority.certificate == authority.certificate
        self.certificates = isSame ? previous?.certificates ?? CertificateStore(authority) : CertificateStore(authority)
        self.context = try TLSServerContext(protocols: (configuration.http2 ? ["h2"] : []) + ["http/1.1"])
        self.pinningClients = previous?.pinningClients ?? PinningClients()
        self.passesThroughOnAlert = configuration.passesThroughOnAlert
    }

    /// True if a tunnel to this host is intercepted; false also if it is relayed because a client has refused Pintle's
    /// certificate.
    func takes(_ plan: RequestPlan, to host: Authority) -> Bool {
        guard plan.decision?.isIntercepted == true else { return false }
        return !self.passesThroughOnAlert || !self.pinningClients.contains(host)
    }
}
