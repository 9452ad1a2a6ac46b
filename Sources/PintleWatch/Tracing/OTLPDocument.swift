// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Spans in the JSON encoding of OTLP (OpenTelemetry protocol 1.x): names in camel case, ids in hexadecimal digits, enumerations as
/// numbers, and 64-bit numbers as text.
package struct OTLPDocument {
    /// The media type of the document, and of the receiver's answer.
    package static let mediaType = "application/json"
    /// The version of the semantic conventions whose attributes the spans have.
    private static let schema = "https://opentelemetry.io/schemas/1.27.0"
    /// Flags beside those of `traceparent`: it is known if the parent is in another process, and it is.
    private static let (knowsRemote, isRemote): (Int64, Int64) = (0x100, 0x200)
    /// `STATUS_CODE_ERROR`.
    private static let error: Int64 = 2

    private let resource: [(String, TraceSpan.Value)]
    private let version: String

    /// - Parameters:
    ///   - version: that of the program.
    ///   - host: the name of the machine; nil if it is unknown.
    package init(version: String, host: String?, process: Int) {
        self.version = version
        self.resource =
            [("service.name", .text("pintle")), ("service.version", .text(version))]
            + (host.map { [("host.name", .text($0))] } ?? []) + [("process.pid", .number(process))]
    }

    /// The bytes of the document.
    package func bytes(of spans: [TraceSpan]) -> [UInt8] {
        let scope: Parameter = .object([("name", "pintle"), ("version", .string(self.version))])
        let scopeSpans: Parameter = .object([
            ("scope", scope), ("spans", .array(spans.map(Self.span))), ("schemaUrl", .string(Self.schema)),
        ])
        let resourceSpans: Parameter = .object([
            ("resource", .object([("attributes", .array(self.resource.map(Self.attribute)))])),
            ("scopeSpans", .array([scopeSpans])),
        ])
        // This cannot fail: the document has only values that JSON can express, and little nesting.
        return (try? JSONWriter.write(.object([("resourceSpans", .array([resourceSpans]))]))) ?? []
    }

    private static func span(_ span: TraceSpan) -> Parameter {
        var flags = 1 | Self.knowsRemote
        if span.hasRemoteParent { flags |= Self.isRemote }
        let status: Parameter =
            switch span.status {
            case .unset: .object([])
            case .error(let message):
                .object([("message", message.isEmpty ? nil : .string(message)), ("code", .integer(Self.error))])
            }
        return .object([
            ("traceId", .string(span.traceID.description)), ("spanId", .string(span.spanID.description)),
            ("traceState", span.state.isEmpty ? nil : .string(span.state)),
            ("parentSpanId", span.parent.map { .string($0.description) }), ("flags", .integer(flags)),
            ("name", .string(span.name)), ("kind", .integer(Int64(span.kind.rawValue))),
            ("startTimeUnixNano", .string("\(span.start)")), ("endTimeUnixNano", .string("\(span.end)")),
            ("attributes", .array(span.attributes.map { Self.attribute($0.key, $0.value) })), ("status", status),
        ])
    }

    private static func attribute(_ key: String, _ value: TraceSpan.Value) -> Parameter {
        .object([("key", .string(key)), ("value", Self.value(value))])
    }

    private static func value(_ value: TraceSpan.Value) -> Parameter {
        switch value {
        case .text(let text): .object([("stringValue", .string(text))])
        case .number(let number): .object([("intValue", .string("\(number)"))])
        case .texts(let texts):
            .object([("arrayValue", .object([("values", .array(texts.map { Self.value(.text($0)) }))]))])
        }
    }
}

/// The receiver's answer to a document that it has accepted.
package struct OTLPAnswer: Hashable, Sendable {
    /// The number of spans that were refused although the document was accepted (`partialSuccess`).
    package let rejected: Int
    /// The receiver's reason; empty if it gave none.
    package let reason: String

    /// Reads the answer. One that is empty, or no JSON, has rejected nothing: the status has said so.
    package init(_ body: [UInt8]) {
        let document = try? JSONScanner().parse(body)
        let partial = document?["partialSuccess"]
        self.rejected = max(0, partial?["rejectedSpans"]?.wholeNumber ?? 0)
        self.reason = if case .string(let text)? = partial?["errorMessage"] { text } else { "" }
    }
}

extension Parameter {
    fileprivate subscript(_ key: String) -> Parameter? {
        guard case .dictionary(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// A 64-bit number is text in this encoding; some receivers write a number.
    fileprivate var wholeNumber: Int? {
        switch self {
        case .integer(let number): Int(exactly: number)
        case .string(let text): Int(text)
        default: nil
        }
    }
}
