// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleMessage
internal import PintleSerialization
internal import PintleSession

/// The request that a plan makes of a head and a body without network, to be compared with that of another plan.
package enum TrialRequest: Sendable {
    case sent(head: RequestHead, body: [UInt8], isReported: Bool)
    /// The client gets a problem instead.
    case refused(Problem)
    /// It depends on the body, which is not known.
    case unknown
}

extension RequestPlan {
    /// Makes the request.
    ///
    /// - Parameters:
    ///   - body: the whole body; nil if it is not known.
    ///   - mask: stands for every value that the route's rules put into the request; nil shows them.
    package func trial(_ head: RequestHead, body bytes: [UInt8]?, mask: String? = nil) -> TrialRequest {
        let body: Body
        switch (self.grantedStep, bytes) {
        case (.collect, _) where self.framing == .none: body = .whole(ByteBuffer(), trailers: Fields())
        case (.collect, let bytes?) where bytes.count <= self.policy.configuration.limits.bodyBuffer:
            body = .whole(ByteBuffer(bytes: bytes), trailers: Fields())
        case (.collect, _): return .unknown
        default: body = .streamed
        }
        let plan = mask.map { self.masked(by: $0) } ?? self
        switch plan.make(head, body, of: .local, within: .unlimited) {
        case .failure(let problem): return .refused(problem)
        case .success(let made):
            let (head, sent) = made.spelled(streaming: bytes ?? [])
            return .sent(head: head, body: sent, isReported: !made.breaches.isEmpty)
        }
    }
}
