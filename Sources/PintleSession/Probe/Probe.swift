// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleLoop
internal import PintleSystem
package import PintleTrust

/// One TLS handshake with one address, to learn about the server: no data is sent over the connection.
package struct Probe: Sendable {
    /// The address to connect to. The caller must have checked that it may be dialled.
    package var address: SocketAddress
    /// The name or IP address that the server must prove; also the name that is sent to it (SNI).
    package var host: String
    /// Evaluates the server's certificates by its policy.
    package var evaluator: TrustEvaluator
    /// The offer of the handshake. Default: TLS 1.2 and 1.3, any kind of key, no ALPN.
    package var offer = HandshakeOffer()
    /// The effect of the verdict. Default: the policy ends the handshake with a server that it refuses.
    package var judgement = ClientHandshake.Judgement.enforced
    /// A connected, non-blocking socket, which the probe closes; if nil, the probe connects to ``address``. Default:
    /// nil.
    package var connection: Int32?
    /// The time limit for connecting and the handshake together. Default 10 s.
    package var timeLimit = Duration.seconds(10)
    /// The network device that packets use, such as `eth0`; if nil, the system chooses.
    package var interface: String?

    package init(address: SocketAddress, host: String, evaluator: TrustEvaluator) {
        self.address = address
        self.host = host
        self.evaluator = evaluator
    }

    /// Connects and makes the handshake on `loop`, without blocking it.
    ///
    /// Cancelling the task ends the probe with `.cancelled`.
    package func run(on loop: Loop) async -> ProbeResult {
        let dial = ProbeDial(
            address: self.address, connection: self.connection, interface: self.interface, timeLimit: self.timeLimit)
        let connection = ProbeConnection(dial, loop: loop) { () throws(TrustError) in
            try ClientHandshake(
                host: self.host, offer: self.offer, evaluator: self.evaluator, judgement: self.judgement)
        }
        return await connection.run { end in
            ProbeResult(
                ending: Self.ending(of: end), presented: end.dialogue?.presented ?? [], verdict: end.dialogue?.verdict,
                duration: end.duration)
        }
    }

    private static func ending(of end: ProbeConnection<ClientHandshake>.End) -> ProbeResult.Ending {
        if let failure = end.failure { return .failed(failure) }
        guard case .complete(let negotiated)? = end.dialogue?.state else {
            preconditionFailure("BUG: a handshake is over without a failure or an agreement")
        }
        return .complete(negotiated)
    }
}

/// The findings of a probe.
package struct ProbeResult: Sendable {
    /// The end of a probe.
    package enum Ending: Sendable, Hashable {
        /// Both sides finished the handshake.
        case complete(NegotiatedTLS)
        case failed(ProbeFailure)
    }

    package let ending: Ending
    /// The certificates that the server sent, leaf first and unverified; empty if none came, or none that can be read.
    package let presented: [Certificate]
    /// The verdict of the policy; nil if no certificate came. It is also there if the handshake failed later.
    package let verdict: Verdict?
    /// The time from the first packet to the end.
    package let duration: Duration

    /// The agreed parameters, if the handshake was finished.
    package var negotiated: NegotiatedTLS? {
        if case .complete(let negotiated) = self.ending { negotiated } else { nil }
    }

    /// The reason why the handshake was not finished; nil if it was.
    package var failure: ProbeFailure? {
        if case .failed(let failure) = self.ending { failure } else { nil }
    }
}

/// The reason why a probe ended without a finished handshake.
package enum ProbeFailure: Error, Sendable, Hashable {
    /// The phase in which the time ran out.
    package enum Phase: String, Sendable, Hashable {
        case connecting
        case handshaking
    }

    /// The port is closed.
    case refused
    /// No route leads to the address; the system's words.
    case unreachable(String)
    /// The time limit passed.
    case timedOut(Phase)
    /// The connection was reset during the handshake, after this number of bytes.
    case reset(afterBytes: Int)
    /// The handshake itself failed.
    case handshake(HandshakeFailure)
    /// This machine has no descriptor, device or memory left, or OpenSSL cannot make the offer; with the reason.
    case local(String)
    /// The task was cancelled.
    case cancelled
}

extension ProbeFailure: CustomStringConvertible {
    /// The failure, as the end of a sentence that names the address.
    package var description: String {
        switch self {
        case .refused: "the connection was refused: nothing listens there"
        case .unreachable(let reason): "it cannot be reached: \(reason)"
        case .timedOut(.connecting): "no answer to the connection within the time limit"
        case .timedOut(.handshaking): "no answer to the TLS handshake within the time limit"
        case .reset(let count): "the connection was reset during the TLS handshake, after \(count) bytes"
        case .handshake(.alert(let alert)): "it ended the TLS handshake with the alert \(alert)"
        case .handshake(.plainText(let bytes)): "it does not speak TLS: it answered \"\(Self.printable(bytes))\""
        case .handshake(.closed(let count)): "it closed the connection during the TLS handshake, after \(count) bytes"
        case .handshake(.refused): "the trust policy refused it"
        case .handshake(.misbehaved(let reason)): "the TLS handshake failed: \(reason)"
        case .local(let reason): "it could not be tried: \(reason)"
        case .cancelled: "the probe was cancelled"
        }
    }

    /// Returns text that is safe to print, as the server chose these bytes.
    private static func printable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { (0x20...0x7E).contains($0) && $0 != 0x22 ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }
}
