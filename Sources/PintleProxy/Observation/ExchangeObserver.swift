// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleMessage
package import PintleTrust

/// Is told of every exchange when it ends, with more than its record has: what the origin sent, and by which chain it proved
/// itself. Safe on every thread.
package final class ExchangeObserver: Sendable {
    /// The longest body that is kept for it, in bytes as they come over the wire.
    package static let longestBody = 1 << 20
    /// The most bytes of bodies that are kept at a time, those that it was told of and still holds included.
    package static let mostKept = 64 << 20

    let budget = MemoryBudget()
    private let take: @Sendable (ObservedExchange) -> Void

    /// - Parameter take: told the plain truth, secrets and all, on the thread that the exchange ended on: it must be quick.
    package init(_ take: @escaping @Sendable (ObservedExchange) -> Void) { self.take = take }

    func tell(_ exchange: ObservedExchange) { self.take(exchange) }
}

/// One exchange that is over.
package struct ObservedExchange: Sendable {
    package var record: ExchangeRecord
    /// That of the client's request, query and all.
    package var target: RequestTarget
    /// True where the client has got everything.
    package var isComplete: Bool
    /// Nil where nothing was verified.
    package var verdict: Verdict?
    /// True where a TLS handshake passed in a relayed tunnel that names no server (SNI).
    package var hasNamelessHello: Bool
    /// The response that the client got from an origin; nil where there was none, or another one in its place.
    package var response: ObservedResponse?

    package init(
        record: ExchangeRecord, target: RequestTarget, isComplete: Bool, verdict: Verdict? = nil,
        hasNamelessHello: Bool = false, response: ObservedResponse? = nil
    ) {
        self.record = record
        self.target = target
        self.isComplete = isComplete
        self.verdict = verdict
        self.hasNamelessHello = hasNamelessHello
        self.response = response
    }
}

/// The parts of a response that tell what it is.
package struct ObservedResponse: Sendable {
    /// How much of the body there is to be read.
    package enum Body: Sendable {
        /// Nothing: it is not JSON by its type.
        case other
        /// All of it, with its content codings.
        case kept(ObservedBody)
        /// It is longer than ``ExchangeObserver/longestBody``.
        case tooLong
        /// As much was kept of others as may be.
        case noRoom
    }

    /// The media types that it announces, without their parameters and in lower case.
    package var contentTypes: [String]
    /// The values of Content-Encoding.
    package var codings: [String]
    /// True where it has no body by its nature: to HEAD, 204 and 304 (RFC 9110 §6.4.1).
    package var isBodiless: Bool
    package var body: Body

    package init(contentTypes: [String], codings: [String] = [], isBodiless: Bool = false, body: Body) {
        self.contentTypes = contentTypes
        self.codings = codings
        self.isBodiless = isBodiless
        self.body = body
    }
}

/// Bytes of a body that count as kept until they go.
package final class ObservedBody: Sendable {
    package let bytes: [UInt8]
    private let budget: MemoryBudget?

    /// - Parameter budget: from which they were drawn.
    package init(_ bytes: [UInt8], drawnFrom budget: MemoryBudget? = nil) {
        self.bytes = bytes
        self.budget = budget
    }

    deinit { self.budget?.change(by: -self.bytes.count) }
}
