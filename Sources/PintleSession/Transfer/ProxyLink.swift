// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleTrust

/// A proxy, prepared for the use by transfers.
package final class ProxyLink: Sendable {
    /// The proxy's description.
    package let server: ProxyServer
    /// Judges the certificate of an https proxy.
    let evaluator: TrustEvaluator
    /// The certificate for an https proxy that asks for one.
    let identity: ClientIdentity?
    /// The fields of the CONNECT for an https request.
    let connectFields: Fields

    package init(
        _ server: ProxyServer, evaluator: TrustEvaluator, identity: ClientIdentity? = nil,
        connectFields: Fields = Fields()
    ) {
        self.server = server
        self.evaluator = evaluator
        self.identity = identity
        self.connectFields = connectFields
    }

    /// The URL of a SOCKS proxy for libcurl.
    ///
    /// The credential is in the URL, because libcurl's options for it are percent-decoded in some versions only.
    var url: String {
        precondition(self.server.scheme == .socks5, "BUG: libcurl speaks with SOCKS proxies only")
        guard let credential = self.server.credential else { return "socks5h://\(self.server.authority)" }
        let user = Self.escaped(credential.user)
        return "socks5h://\(user):\(Self.escaped(credential.password))@\(self.server.authority)"
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            if ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += byte < 16 ? "%0" : "%"
                result += String(byte, radix: 16)
            }
        }
        return result
    }
}
