// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleMessage
package import PintleTrust
package import PintleWatch

/// A sink that also keeps JSON bodies. Can be used from any thread.
package final class ExchangeObserver: ExchangeSink {
    /// The longest body that is kept for the observer, in bytes on the wire.
    package static let longestBody = 1 << 20
    /// The most bytes of bodies that are kept at a time, including those that the observer still holds.
    package static let mostKept = 64 << 20

    let budget = MemoryBudget()
    private let take: @Sendable (ObservedExchange) -> Void

    package init(_ take: @escaping @Sendable (ObservedExchange) -> Void) { self.take = take }

    package var wants: SinkWants { .records }
    package func take(_ exchange: ObservedExchange) { self.take(exchange) }
}

/// A finished exchange, with more than its record.
package struct ObservedExchange: Sendable {
    package var record: ExchangeRecord
    /// The target of the client's request, including its query.
    package var target: RequestTarget
    /// True if the client has received everything.
    package var isComplete: Bool
    /// Nil if no certificate was verified.
    package var verdict: Verdict?
    /// True if the ClientHello in a relayed tunnel had no server name (SNI).
    package var hasNamelessHello: Bool
    /// True for a tunnel whose client spoke neither TLS nor HTTP, or waited for its server to speak.
    package var isOpaque: Bool
    /// The origin's response that the client received; nil if there was none, or if another response replaced it.
    package var response: ObservedResponse?
    /// The header fields that the client has sent.
    package var requestFields: Fields
    /// The header fields that the origin has sent, if a sink wanted them when they came; otherwise empty.
    package var responseFields: Fields
    /// The bodies; nil if none were kept.
    package let bodies: CapturedBodies?
    /// The place of the exchange in a trace; nil if traces are off.
    package let trace: ExchangeTrace?
    /// The digest of the body that the client has received; nil if there was none, if Pintle itself has answered, or if no sink
    /// wants digests.
    package let digest: BodyDigest?

    package init(
        record: ExchangeRecord, target: RequestTarget, isComplete: Bool, verdict: Verdict? = nil,
        hasNamelessHello: Bool = false, isOpaque: Bool = false, response: ObservedResponse? = nil,
        requestFields: Fields = Fields(), responseFields: Fields = Fields(), bodies: CapturedBodies? = nil,
        trace: ExchangeTrace? = nil, digest: BodyDigest? = nil
    ) {
        self.record = record
        self.target = target
        self.isComplete = isComplete
        self.verdict = verdict
        self.hasNamelessHello = hasNamelessHello
        self.isOpaque = isOpaque
        self.response = response
        self.requestFields = requestFields
        self.responseFields = responseFields
        self.bodies = bodies
        self.trace = trace
        self.digest = digest
    }

    /// The bytes in memory, about: the record's fixed part is some 700 bytes, and only these parts may be much longer.
    package var size: Int {
        1024 + self.requestFields.byteCount + self.responseFields.byteCount + (self.record.url?.utf8.count ?? 0)
            + (self.record.error?.utf8.count ?? 0) + self.record.chain.count * 64
            + (self.trace == nil ? 0 : 512)
    }
}

/// The parts of a response that are needed to classify it.
package struct ObservedResponse: Sendable {
    /// The recorded part of the body.
    package enum Body: Sendable {
        /// Nothing, because its type is not JSON.
        case other
        /// The whole body, with its content codings.
        case kept(ObservedBody)
        /// The body is longer than ``ExchangeObserver/longestBody``.
        case tooLong
        /// The memory for kept bodies is used up.
        case noRoom
    }

    /// The media types in Content-Type, without parameters and in lower case.
    package var contentTypes: [String]
    /// The values of Content-Encoding.
    package var codings: [String]
    /// True if the response cannot have a body: a response to HEAD, 204 and 304 (RFC 9110 §6.4.1).
    package var isBodiless: Bool
    package var body: Body

    package init(contentTypes: [String], codings: [String] = [], isBodiless: Bool = false, body: Body) {
        self.contentTypes = contentTypes
        self.codings = codings
        self.isBodiless = isBodiless
        self.body = body
    }
}

/// Bytes of a body, which count as kept until this object is released.
package final class ObservedBody: Sendable {
    package let bytes: [UInt8]
    private let budget: MemoryBudget?

    /// - Parameter budget: the budget from which they were taken.
    package init(_ bytes: [UInt8], drawnFrom budget: MemoryBudget? = nil) {
        self.bytes = bytes
        self.budget = budget
    }

    deinit { self.budget?.change(by: -self.bytes.count) }
}
