// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The place of an exchange in a trace, with the facts for its spans that its record has not.
package struct ExchangeTrace: Hashable, Sendable {
    /// The request as it was sent to an origin: the last one, if redirects were followed.
    package struct Sent: Hashable, Sendable {
        package var method: String
        package var url: HTTPURL
        /// The time from the beginning of the exchange until the first of these requests was sent.
        package var start: Duration

        package init(method: String, url: HTTPURL, start: Duration) {
            (self.method, self.url, self.start) = (method, url, start)
        }
    }

    package let traceID: TraceID
    /// True if the spans are told to the receiver.
    package let isSampled: Bool
    /// The span of the client, if its trace is continued.
    package let parent: SpanID?
    /// The client's `tracestate`; empty if there is none, or if its trace is not continued.
    package let state: String
    /// The SERVER span, between the client and the proxy.
    package let server: SpanID
    /// The CLIENT span, between the proxy and an origin. It has an id even if no origin is asked.
    package let client: SpanID
    /// The HTTP version of the client's request.
    package let version: String
    /// The request to an origin; nil if there was none.
    package var sent: Sent?
    /// The time from the beginning of the exchange until the origin had answered, or had failed to.
    package var originEnd: Duration?
    /// The name of the problem that was found, if any.
    package var problem: String?

    /// Continues the trace of a request, or begins a new one.
    ///
    /// - Parameters:
    ///   - head: the client's request.
    ///   - continues: true if the client's `traceparent` is believed. A continued trace is recorded if its sender has recorded it.
    ///   - sampling: chooses the new traces that are recorded.
    package init(
        _ head: RequestHead, continues: Bool, sampling: TraceSampling, using generator: inout some RandomNumberGenerator
    ) {
        if continues, let parent = TraceParent(head.fields) {
            (self.traceID, self.parent, self.isSampled) = (parent.traceID, parent.spanID, parent.isSampled)
            self.state = head.fields.values(of: TraceParent.stateField).filter { !$0.isEmpty }.joined(separator: ",")
        } else {
            let trace = TraceID(using: &generator)
            (self.traceID, self.parent, self.isSampled) = (trace, nil, sampling.chooses(trace))
            self.state = ""
        }
        (self.server, self.client) = (SpanID(using: &generator), SpanID(using: &generator))
        self.version = head.version
    }

    /// Puts the context of the CLIENT span into a request to an origin.
    package func fill(_ fields: inout Fields) {
        let context = TraceParent(traceID: self.traceID, spanID: self.client, isSampled: self.isSampled)
        fields.set(TraceParent.field, context.description)
        // State belongs to the trace that its sender was in.
        if self.parent == nil { fields.remove(TraceParent.stateField) }
    }
}
