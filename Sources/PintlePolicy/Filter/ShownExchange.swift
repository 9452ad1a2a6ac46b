// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleMessage

/// A finished exchange as people and programs may see it: without secrets, unless the configuration has `log.redact: off`.
///
/// Filters read this form, so that no answer of a filter tells what is not shown.
package struct ShownExchange: Sendable {
    /// The part that pins had in the decision about the origin.
    package enum Pin: String, CaseIterable, Sendable {
        /// A key of the chain is pinned.
        case match
        /// No key of the chain is pinned, although the trust policy has pins.
        case mismatch
        /// Pins did not decide.
        case none
    }

    /// Some lines of a header section.
    package struct Lines: Sendable {
        package let pairs: [(name: String, value: String)]
        /// Each line as `Name: value`.
        package var lines: [String] { self.pairs.map { "\($0.name): \($0.value)" } }
        /// The values of Content-Type.
        package let types: [String]

        init(_ fields: Fields, _ redaction: Redaction) {
            self.pairs = fields.pairs.map { ($0.name, redaction.field(name: $0.name, value: $0.value)) }
            self.types = fields.values(of: "Content-Type")
        }
    }

    package let record: ExchangeRecord
    package let requestFields: Lines
    package let responseFields: Lines
    /// True if the client asked for a WebSocket and got one.
    package let isWebSocket: Bool
    /// Nil if no bodies are kept.
    package let bodies: (any ShownBodies)?

    /// - Parameters:
    ///   - request: the header fields that the client has sent.
    ///   - response: the header fields that the origin has sent; empty if it has not answered.
    package init(
        _ record: ExchangeRecord, request: Fields, response: Fields, bodies: (any ShownBodies)? = nil,
        redaction: Redaction
    ) {
        var shown = record
        shown.url = record.url.map(redaction.url)
        shown.error = record.error.map(redaction.text)
        self.record = shown
        self.requestFields = Lines(request, redaction)
        self.responseFields = Lines(response, redaction)
        self.bodies = bodies
        let asks = request.values(of: "Upgrade").contains { $0.lowercased() == "websocket" }
        self.isWebSocket = asks && record.status == 101
    }

    package var pin: Pin {
        if self.record.violations.contains(.pinMismatch) { return .mismatch }
        return self.record.pin == nil ? .none : .match
    }
}
