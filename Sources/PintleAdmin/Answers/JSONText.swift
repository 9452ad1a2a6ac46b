// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleSerialization

/// Pieces of JSON documents (RFC 8259). Lines of the exchange log are put into them as they are.
enum JSONText {
    static func value(_ parameter: Parameter) -> [UInt8] {
        // This cannot fail: answers have only values that JSON can express, and little nesting.
        (try? JSONWriter.write(parameter, options: .fragmentsAllowed)) ?? Array("null".utf8)
    }

    /// The members whose value is not nil.
    static func object(_ members: [(String, [UInt8]?)]) -> [UInt8] {
        var text = Array("{".utf8)
        for case (let name, let value?) in members {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += Self.value(.string(name)) + [UInt8(ascii: ":")] + value
        }
        return text + Array("}".utf8)
    }

    static func array(_ elements: some Sequence<[UInt8]>) -> [UInt8] {
        Array("[".utf8) + elements.joined(separator: [UInt8(ascii: ",")]) + Array("]".utf8)
    }

    /// An exchange as the log has it.
    static func record(_ exchange: ShownExchange) -> [UInt8] {
        var line: [UInt8] = []
        // A shown exchange has no secrets left.
        ExchangeEncoder(format: .json, redaction: .off).encode(exchange.record, into: &line)
        // Without its line end.
        line.removeLast()
        return line
    }
}
