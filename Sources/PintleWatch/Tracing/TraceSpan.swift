// SPDX-License-Identifier: Apache-2.0

/// One span, in OpenTelemetry's terms.
package struct TraceSpan: Hashable, Sendable {
    /// The kinds that Pintle makes, with the numbers of the protocol.
    package enum Kind: Int, Sendable {
        case server = 2
        case client = 3
    }

    /// The value of an attribute.
    package enum Value: Hashable, Sendable {
        case text(String)
        case number(Int)
        case texts([String])
    }

    package enum Status: Hashable, Sendable {
        case unset
        /// The operation has failed; the text may be empty.
        case error(String)
    }

    package struct Attribute: Hashable, Sendable {
        package let key: String
        package let value: Value
    }

    package let kind: Kind
    package let name: String
    package let traceID: TraceID
    package let spanID: SpanID
    package let parent: SpanID?
    /// True if the parent is a span of another process.
    package let hasRemoteParent: Bool
    /// The `tracestate` of the trace; may be empty.
    package let state: String
    /// In nanoseconds since 1970.
    package let start: Int64
    package let end: Int64
    package private(set) var attributes: [Attribute] = []
    package var status = Status.unset

    package init(
        _ kind: Kind, _ name: String, _ id: SpanID, under parent: SpanID?, of trace: ExchangeTrace, from start: Int64,
        to end: Int64
    ) {
        (self.kind, self.name, self.spanID, self.parent) = (kind, name, id, parent)
        (self.traceID, self.state) = (trace.traceID, trace.state)
        self.hasRemoteParent = kind == .server && parent != nil
        // The clock may have been set back meanwhile.
        (self.start, self.end) = (start, max(start, end))
    }

    /// Adds an attribute; does nothing for nil.
    mutating func add(_ key: String, _ text: String?) {
        guard let text else { return }
        self.attributes.append(Attribute(key: key, value: .text(text)))
    }

    /// Adds an attribute; does nothing for nil.
    mutating func add(_ key: String, _ number: Int?) {
        guard let number else { return }
        self.attributes.append(Attribute(key: key, value: .number(number)))
    }

    /// Adds a list; does nothing for an empty one.
    mutating func add(_ key: String, _ texts: [String]) {
        if !texts.isEmpty { self.attributes.append(Attribute(key: key, value: .texts(texts))) }
    }
}
