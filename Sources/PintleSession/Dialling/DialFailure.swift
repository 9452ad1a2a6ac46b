// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
internal import PintleMessage
internal import PintleSystem

/// The reason why there is no socket for an address.
enum SocketRefusal {
    /// The judge of addresses forbids it.
    case address(AddressRefusal)
    /// The system could not make one, with this `errno`.
    case system(Int32)
}

/// The facts about a failed dial. This is the only place that turns libcurl's and the system's codes into a
/// `SessionError`.
struct DialFailure {
    let result: CURLcode
    let target: DialTarget
    /// libcurl's number for the answer of a SOCKS proxy.
    let proxyError: Int
    /// The interface that the connection must use.
    let interface: String?
    /// True if there was an address to dial.
    let hasAddress: Bool
    /// The reason why there was no socket for an address; nil if there was one.
    let refusal: SocketRefusal?
    let systemError: Int32

    var error: SessionError {
        switch self.result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            SessionError(.dnsFailure, "\(self.target.dialledHost) has no address", cause: self.words)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: self.connectError
        case CURLE_PROXY: self.unmadeConnection
        case CURLE_OPERATION_TIMEDOUT: self.timeout
        case CURLE_URL_MALFORMAT:
            SessionError(.cannotSend, "\(self.target.authority) is no host that can be dialled", cause: self.words)
        default: SessionError(.internalError, "\(self.target.authority) cannot be dialled", cause: self.words)
        }
    }

    /// The peer that was dialled, in a sentence.
    private var dialled: String {
        self.proxy.map { "the proxy \($0.authority)" } ?? self.target.authority.description
    }

    private var proxy: ProxyServer? { self.target.proxy?.server }

    private var timeout: SessionError {
        let limit = self.target.namedLimit.inWords
        guard self.hasAddress else {
            return SessionError(.dnsFailure, "\(self.target.dialledHost) has no address within \(limit)")
        }
        return .connectTimeout(self.target.authority, by: self.proxy, within: self.target.namedLimit)
    }

    private var connectError: SessionError {
        let peer = self.dialled
        if let interface, self.result == CURLE_INTERFACE_FAILED {
            return SessionError(
                .connectFailure,
                "no connection to \(peer) can leave by \(interface); name one of this machine's interfaces",
                cause: self.words)
        }
        switch self.refusal {
        case .address(let refusal):
            return SessionError(
                .addressDenied, "no address of \(peer) may be dialled: \(refusal.reason)", underlying: refusal.cause)
        case .system(let code): return self.socketFailed(code)
        case nil: break
        }
        switch self.systemError {
        case ECONNREFUSED: return SessionError(.connectionRefused, "\(peer) refused the connection", cause: self.words)
        case ENETUNREACH, EHOSTUNREACH:
            return SessionError(.networkUnreachable, "there is no route to \(peer)", cause: self.words)
        default:
            let cause = self.systemError == 0 ? self.words : SystemError(self.systemError).description
            return SessionError(.connectFailure, "no connection to \(peer) could be made", cause: cause)
        }
    }

    private func socketFailed(_ code: Int32) -> SessionError {
        let cause = SystemError(code).description
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) else {
            return SessionError(.connectFailure, "no socket for \(self.dialled) can be made", cause: cause)
        }
        return SessionError(
            .exhausted, "nothing is left for a connection to \(self.dialled); raise the limit of open files",
            cause: cause)
    }

    /// The error for a connection that a SOCKS proxy did not make.
    private var unmadeConnection: SessionError {
        guard let proxy else { preconditionFailure("BUG: a proxy has failed that was not asked") }
        let name = "the SOCKS proxy \(proxy.authority)"
        let origin = self.target.authority
        switch CURLproxycode(rawValue: UInt32(truncatingIfNeeded: self.proxyError)) {
        case CURLPX_NO_AUTH, CURLPX_GSSAPI, CURLPX_GSSAPI_PERMSG, CURLPX_GSSAPI_PROTECTION, CURLPX_USER_REJECTED:
            return SessionError(.connectFailure, "\(name) wants to know who asks; \(proxy.remedy())")
        case CURLPX_BAD_VERSION, CURLPX_UNKNOWN_MODE, CURLPX_BAD_ADDRESS_TYPE:
            return SessionError(.connectFailure, "the proxy \(proxy.authority) does not speak SOCKS 5")
        case CURLPX_REPLY_CONNECTION_REFUSED:
            return SessionError(.connectionRefused, "\(origin) refused the connection of \(name)")
        case CURLPX_REPLY_NOT_ALLOWED:
            return SessionError(.connectFailure, "\(name) does not allow a connection to \(origin)")
        case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED:
            return SessionError(.connectFailure, "\(name) cannot reach the host \(origin.host)")
        case CURLPX_REPLY_NETWORK_UNREACHABLE:
            return SessionError(.connectFailure, "\(name) has no route to \(origin)")
        case CURLPX_CLOSED, CURLPX_RECV_AUTH, CURLPX_RECV_CONNECT, CURLPX_RECV_REQACK, CURLPX_RECV_ADDRESS:
            return SessionError(.connectFailure, "\(name) closed before it was connected to \(origin)")
        default:
            return SessionError(
                .connectFailure, "\(name) made no connection to \(origin)",
                cause: "libcurl's proxy error \(self.proxyError)")
        }
    }

    /// libcurl's code in words; nil if they add nothing to the message.
    private var words: String? {
        switch self.result {
        case CURLE_COULDNT_CONNECT:
            self.systemError == 0 || self.systemError == ECONNREFUSED
                ? nil : SystemError(self.systemError).description
        case CURLE_OUT_OF_MEMORY: "out of memory"
        case CURLE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_INTERFACE_FAILED,
            CURLE_OPERATION_TIMEDOUT, CURLE_URL_MALFORMAT:
            nil
        default: "libcurl's code \(self.result.rawValue)"
        }
    }
}

extension SessionError {
    /// Returns the error for a connection, with its lookup and handshakes, that took too long.
    static func connectTimeout(_ origin: Authority, by proxy: ProxyServer?, within limit: TimeAmount) -> SessionError {
        let way = proxy.map { " by the proxy \($0.authority)" } ?? ""
        return SessionError(.connectTimeout, "no connection to \(origin)\(way) within \(limit.inWords)")
    }
}

extension ProxyServer {
    /// The advice for a proxy that demands credentials.
    ///
    /// - Parameter fields: those of its 407; nil for SOCKS, which has none.
    func remedy(for fields: Fields? = nil) -> String {
        if let schemes = fields.flatMap(AuthenticationChallenge.schemesInsteadOfBasic(in:)) {
            return "it asks for \(schemes), and a credential of the configuration is sent as Basic only"
        }
        return self.credential == nil
            ? "give the proxy's credential in the configuration"
            : "it does not take the credential of the configuration"
    }
}
