// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleTrust

/// Looks at the certificate that the client of a verified tunnel is shown, where its handshake shows it in clear text.
struct TunnelWatch {
    /// What a look at some bytes came to.
    enum Sight {
        /// Nothing yet.
        case nothing
        /// There is nothing to be seen, now or later.
        case hidden
        /// The certificate, and what the policy says of it.
        case seen(Verdict)
        /// The server hides it in a way that no server needs.
        case unreadable
    }

    private var reader = ServerFlightReader()
    private let evaluator: TrustEvaluator
    private let host: String

    init(_ question: TunnelVerifier.Question) {
        self.evaluator = question.evaluator
        self.host = question.authority.host
    }

    /// Looks at what the server sends, before the client gets it.
    mutating func look(at bytes: ByteBuffer) -> Sight {
        switch self.reader.read(bytes.readableBytesView) {
        case .undecided: return .nothing
        case .hidden: return .hidden
        case .tooLong: return .unreadable
        case .certificates(let encodings):
            var chain: [Certificate] = []
            for der in encodings {
                // One that cannot be read proves nothing, and is left out; without a leaf there is no chain.
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
