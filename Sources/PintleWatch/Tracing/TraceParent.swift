// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The field `traceparent`: the trace of a request, and the span of its sender (W3C Trace Context, level 1).
package struct TraceParent: Hashable, Sendable, CustomStringConvertible {
    /// The names of the two fields of a trace context.
    package static let (field, stateField) = ("traceparent", "tracestate")
    /// The length of a value of version 00.
    private static let length = 55
    /// The flag that says that the sender may have recorded its span.
    private static let sampled: UInt64 = 1

    package let traceID: TraceID
    /// The span of the sender.
    package let spanID: SpanID
    /// True if the sender may have recorded its span. Other flags have no meaning in version 00.
    package let isSampled: Bool

    package init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
        (self.traceID, self.spanID, self.isSampled) = (traceID, spanID, isSampled)
    }

    /// Reads the field of a request; nil if there is none, if there are several, or if its value is malformed.
    package init?(_ fields: Fields) {
        let values = fields.values(of: Self.field)
        guard values.count == 1 else { return nil }
        self.init(values[0])
    }

    /// Reads `00-TRACE-SPAN-FLAGS`, or a later version with the same beginning (§3.2.4, versioning).
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= Self.length, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = UInt64(hexadecimal: bytes[0..<2]), version != 0xff,
            version == 0
                ? bytes.count == Self.length
                : bytes.count == Self.length || bytes[Self.length] == UInt8(ascii: "-"),
            let high = UInt64(hexadecimal: bytes[3..<19]), let low = UInt64(hexadecimal: bytes[19..<35]),
            let span = UInt64(hexadecimal: bytes[36..<52]), let flags = UInt64(hexadecimal: bytes[53..<55]),
            let traceID = TraceID(high: high, low: low), let spanID = SpanID(span)
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: flags & Self.sampled != 0)
    }

    /// Replaces the trace context of one request by that of another.
    package static func copy(from source: Fields, to target: inout Fields) {
        for name in [Self.field, Self.stateField] {
            target.remove(name)
            for value in source.values(of: name) { target.append(name, value) }
        }
    }

    /// The value of the field, in version 00.
    package var description: String { "00-\(self.traceID)-\(self.spanID)-\(self.isSampled ? "01" : "00")" }
}

extension UInt64 {
    /// Reads hexadecimal digits in lower case, the only ones that the format has.
    fileprivate init?(hexadecimal digits: ArraySlice<UInt8>) {
        self = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = self << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): self = self << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
    }
}
