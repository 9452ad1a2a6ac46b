// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The parameters of permessage-deflate that a client and a server have agreed on (RFC 7692 §7.1).
package struct DeflateParameters: Sendable, Hashable {
    package var serverNoContextTakeover = false
    package var clientNoContextTakeover = false
    package var serverMaxWindowBits = 15
    package var clientMaxWindowBits = 15

    package init() {}

    /// The name of the extension.
    static let extensionName = "permessage-deflate"

    /// The parameters with which a third party can read both directions of a connection; nil if nothing is compressed. The largest
    /// windows fit for all smaller ones.
    ///
    /// - Parameter fields: those of the answer with which the server accepted.
    package init?(agreedIn fields: Fields) {
        let extensions = WebSocketExtension.list(fields.values(of: "Sec-WebSocket-Extensions")) ?? []
        guard extensions.contains(where: { $0.name == Self.extensionName }) else { return nil }
    }

    /// Returns the value of the field with which a client offers the extension.
    static func offer(_ settings: WebSocketCompression) -> String {
        var offer = Self.extensionName
        if settings.serverNoContextTakeover { offer += "; server_no_context_takeover" }
        if settings.clientNoContextTakeover { offer += "; client_no_context_takeover" }
        if settings.serverMaxWindowBits < 15 { offer += "; server_max_window_bits=\(settings.serverMaxWindowBits)" }
        // Without this parameter, the server must not ask for a smaller window.
        offer += "; client_max_window_bits"
        if settings.clientMaxWindowBits < 15 { offer += "=\(settings.clientMaxWindowBits)" }
        return offer
    }

    /// Reads a server's answer to an offer.
    ///
    /// - Returns: nil if the answer is invalid for this offer.
    init?(answer: WebSocketExtension, to settings: WebSocketCompression) {
        guard let named = NamedParameters(answer), named.clientMaxWindowBits != .some(.unlimited) else { return nil }
        // A server that accepts the offer must do everything that it asks (RFC 7692 §7.1.1.1, §7.1.2.1).
        guard named.serverNoContextTakeover || !settings.serverNoContextTakeover else { return nil }
        let serverBits = named.serverMaxWindowBits ?? 15
        let clientBits = named.clientMaxWindowBits?.bits ?? 15
        guard serverBits <= settings.serverMaxWindowBits else { return nil }
        self.serverNoContextTakeover = named.serverNoContextTakeover
        self.clientNoContextTakeover = named.clientNoContextTakeover || settings.clientNoContextTakeover
        self.serverMaxWindowBits = serverBits
        // A client may always use a smaller window than it was allowed.
        self.clientMaxWindowBits = min(clientBits, settings.clientMaxWindowBits)
    }

    /// Accepts a client's offer, as a server.
    ///
    /// - Returns: nil if the offer must be declined because of an unknown, repeated or invalid parameter (RFC 7692 §7).
    init?(offer: WebSocketExtension, _ settings: WebSocketCompression) {
        guard let named = NamedParameters(offer) else { return nil }
        self.serverNoContextTakeover = named.serverNoContextTakeover || settings.serverNoContextTakeover
        self.clientNoContextTakeover = named.clientNoContextTakeover || settings.clientNoContextTakeover
        self.serverMaxWindowBits = min(named.serverMaxWindowBits ?? 15, settings.serverMaxWindowBits)
        // A client that does not send this parameter cannot use a smaller window.
        guard let clientBits = named.clientMaxWindowBits else { return }
        self.clientMaxWindowBits = min(clientBits.bits, settings.clientMaxWindowBits)
    }

    /// The value of the field with which a server accepts.
    package var answer: String {
        var answer = Self.extensionName
        if self.serverNoContextTakeover { answer += "; server_no_context_takeover" }
        if self.clientNoContextTakeover { answer += "; client_no_context_takeover" }
        if self.serverMaxWindowBits < 15 { answer += "; server_max_window_bits=\(self.serverMaxWindowBits)" }
        if self.clientMaxWindowBits < 15 { answer += "; client_max_window_bits=\(self.clientMaxWindowBits)" }
        return answer
    }
}

/// The parameters in an offer or an answer.
private struct NamedParameters {
    /// The value of `client_max_window_bits`, which may be omitted in an offer.
    enum Bits: Equatable {
        case unlimited
        case most(Int)

        var bits: Int {
            switch self {
            case .unlimited: 15
            case .most(let bits): bits
            }
        }
    }

    private(set) var serverNoContextTakeover = false
    private(set) var clientNoContextTakeover = false
    private(set) var serverMaxWindowBits: Int?
    private(set) var clientMaxWindowBits: Bits?

    /// Fails for an unknown or repeated name, and for a value that is missing, not allowed or out of range.
    init?(_ list: WebSocketExtension) {
        var seen: Set<String> = []
        for parameter in list.parameters {
            guard seen.insert(parameter.name).inserted else { return nil }
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil): self.serverNoContextTakeover = true
            case ("client_no_context_takeover", nil): self.clientNoContextTakeover = true
            case ("client_max_window_bits", nil): self.clientMaxWindowBits = .unlimited
            case ("server_max_window_bits", let value?):
                guard let bits = Self.bits(value) else { return nil }
                self.serverMaxWindowBits = bits
            case ("client_max_window_bits", let value?):
                guard let bits = Self.bits(value) else { return nil }
                self.clientMaxWindowBits = .most(bits)
            default: return nil
            }
        }
    }

    /// Reads a number from 8 to 15 without a leading zero (RFC 7692 §7.1.2).
    private static func bits(_ text: String) -> Int? { (8...15).first { "\($0)" == text } }
}
