// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
package import NIOCore
package import PintleLoop
package import PintleTrust

/// One TLS handshake with one address, for what it tells about the server: nothing is sent over the connection.
package struct Probe: Sendable {
    /// Where to connect to. Whether that may be done is for the caller to judge.
    package var address: SocketAddress
    /// The name or IP address that the server must prove, and the name that it is asked for.
    package var host: String
    /// Whose policy judges the server.
    package var evaluator: TrustEvaluator
    /// Default: TLS 1.2 and 1.3, any kind of key, no ALPN.
    package var offer = HandshakeOffer()
    /// Default: the policy ends the handshake of a server that it refuses.
    package var judgement = ClientHandshake.Judgement.enforced
    /// A connected, non-blocking socket, which the probe closes; nil has it connect to ``address``. Default: nil.
    package var connection: Int32?
    /// For connecting and shaking hands together. Default 10 s.
    package var timeLimit = Duration.seconds(10)
    /// The network device that packets leave by, as `eth0`; nil leaves it to the system.
    package var interface: String?

    package init(address: SocketAddress, host: String, evaluator: TrustEvaluator) {
        self.address = address
        self.host = host
        self.evaluator = evaluator
    }

    /// Connects and shakes hands on `loop`, which is never held up; other work on it goes on meanwhile.
    ///
    /// Cancelling the task ends the probe with `.cancelled`.
    package func run(on loop: Loop) async -> ProbeResult {
        let connection = ProbeConnection(self, loop: loop)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.execute { connection.start { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            loop.execute { connection.cancel() }
        }
    }
}

/// What a probe found out.
package struct ProbeResult: Sendable {
    /// How it ended.
    package enum Ending: Sendable, Hashable {
        /// Both sides finished the handshake.
        case complete(NegotiatedTLS)
        case failed(ProbeFailure)
    }

    package let ending: Ending
    /// What the server sent, leaf first and unverified; empty where no certificate came, or none that can be read.
    package let presented: [Certificate]
    /// What the policy says; nil where no certificate came. It is there also for handshakes that failed later.
    package let verdict: Verdict?
    /// From the first packet to the end.
    package let duration: Duration

    /// What was agreed on, where the handshake was finished.
    package var negotiated: NegotiatedTLS? {
        if case .complete(let negotiated) = self.ending { negotiated } else { nil }
    }

    /// Why the handshake was not finished.
    package var failure: ProbeFailure? {
        if case .failed(let failure) = self.ending { failure } else { nil }
    }
}

/// Why a probe ended without a finished handshake.
package enum ProbeFailure: Error, Sendable, Hashable {
    /// What was under way when the time was over.
    package enum Phase: String, Sendable, Hashable {
        case connecting
        case handshaking
    }

    /// Nothing listens there.
    case refused
    /// No way leads there from here; the system's words.
    case unreachable(String)
    /// The time limit passed.
    case timedOut(Phase)
    /// The connection was broken off during the handshake, after so many bytes.
    case reset(afterBytes: Int)
    /// The handshake itself failed.
    case handshake(HandshakeFailure)
    /// This machine has no descriptor, device or memory left, or OpenSSL cannot make the offer; the reason.
    case local(String)
    /// The task was cancelled.
    case cancelled
}

extension ProbeFailure: CustomStringConvertible {
    /// What happened, as the end of a sentence that names the address.
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

    /// The server chose these bytes.
    private static func printable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { (0x20...0x7E).contains($0) && $0 != 0x22 ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }
}
