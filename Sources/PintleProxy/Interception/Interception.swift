// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// The parts that all intercepted tunnels of a configuration share.
final class Interception: Sendable {
    let certificates: CertificateStore
    /// For the handshakes with clients.
    let context: TLSServerContext
    /// Outlives a configuration: a client pins whatever its user writes.
    let pinningClients: PinningClients
    private let passesThroughOnAlert: Bool

    /// - Parameter previous: of the configuration before this one; its certificates are good where the authority is the same.
    /// - Throws: `.library` when OpenSSL has trouble.
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

    /// True where a tunnel to this host is intercepted, and not relayed because a client has refused our certificate for it.
    func takes(_ plan: RequestPlan, to host: Authority) -> Bool {
        guard plan.decision?.isIntercepted == true else { return false }
        return !self.passesThroughOnAlert || !self.pinningClients.contains(host)
    }
}
