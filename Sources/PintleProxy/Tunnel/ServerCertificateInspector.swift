// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleTrust

/// Inspects the certificate in a verified tunnel, if the handshake of its client shows it in plaintext.
struct ServerCertificateInspector {
    /// The result for some bytes.
    enum Inspection {
        /// Nothing is known yet.
        case nothing
        /// No certificate is visible, now or later.
        case hidden
        /// A certificate is visible; with the policy's verdict on it.
        case seen(Verdict)
        /// The server hides the certificate in an abnormal way.
        case unreadable
    }

    private var reader = ServerFlightReader()
    private let evaluator: TrustEvaluator
    private let host: String

    init(_ question: TunnelVerifier.Question) {
        self.evaluator = question.evaluator
        self.host = question.authority.host
    }

    /// Inspects bytes of the server, before the client gets them.
    mutating func look(at bytes: ByteBuffer) -> Inspection {
        switch self.reader.read(bytes.readableBytesView) {
        case .undecided: return .nothing
        case .hidden: return .hidden
        case .tooLong: return .unreadable
        case .certificates(let encodings):
            var chain: [Certificate] = []
            for der in encodings {
                // An unreadable certificate proves nothing, and is left out; without a leaf there is no chain.
                guard let certificate = try? Certificate(der: der) else {
                    if chain.isEmpty { return .unreadable }
                    continue
                }
                chain.append(certificate)
            }
            return .seen(self.evaluator.evaluateInHandshake(chain: chain, host: self.host))
        }
    }
}
