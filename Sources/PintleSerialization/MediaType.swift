// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Reads Content-Type values (RFC 9110 §8.3.1).
package enum MediaType {
    /// Returns the type in lower case and without parameters: media types compare without regard to case. It is not checked
    /// against the grammar, because a malformed value equals no media type. Bytes beyond ASCII become question marks.
    package static func essence(of value: String) -> String {
        value.utf8.span.withUnsafeBufferPointer { bytes in
            let type = ASCII.trimmed(bytes[..<(bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.count)])
            return String(unsafeUninitializedCapacity: type.count) {
                $0.initialize(fromContentsOf: type.lazy.map(ASCII.folded))
            }
        }
    }

    /// Returns the value of the first `charset` parameter, unquoted, or nil.
    static func charset(of value: String) -> String? {
        guard value.utf8.contains(UInt8(ascii: ";")) else { return nil }
        var scanner = FieldScanner(Array(value.utf8)[...])
        _ = scanner.part(before: ";")
        while let part = scanner.part(before: ";") {
            var parameter = FieldScanner(part)
            let name = ASCII.trimmed(parameter.take { $0 != UInt8(ascii: "=") })
            guard parameter.take("="), ASCII.equalsIgnoringCase(name, "charset".utf8) else { continue }
            parameter.skipSpaces()
            let value = parameter.rest
            guard !value.isEmpty else { continue }
            let text = parameter.quotedString()
            return String(decoding: parameter.rest.isEmpty ? text ?? [] : Array(value), as: UTF8.self)
        }
        return nil
    }

    /// True if documents of the type are JSON, by name or by structured suffix (RFC 6839 §3.1).
    package static func isJSON(_ essence: String) -> Bool {
        essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json")
    }

    /// Returns the more general types as which documents of a type with a structured suffix can be read: JSON's for `+json`
    /// (RFC 6839 §3.1), the two of XML for `+xml` (RFC 7303 §4.2 and §9.2), none for others.
    static func typesBehindSuffix(of essence: String) -> [String] {
        guard let slash = essence.utf8.firstIndex(of: UInt8(ascii: "/")) else { return [] }
        let subtype = essence[essence.utf8.index(after: slash)...]
        // The suffix alone is not enough.
        if subtype.utf8.count > 5, subtype.hasSuffix("+json") { return ["application/json"] }
        if subtype.utf8.count > 4, subtype.hasSuffix("+xml") { return ["application/xml", "text/xml"] }
        return []
    }
}

extension Fields {
    /// The encoding that Content-Type names; UTF-8 if it names none or an unknown one.
    package var textEncoding: TextEncoding {
        self[.contentType].flatMap(MediaType.charset).flatMap { try? TextEncoding($0) } ?? .utf8
    }
}
