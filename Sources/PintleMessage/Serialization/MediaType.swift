// SPDX-License-Identifier: Apache-2.0

/// Reads Content-Type values (RFC 9110 §8.3.1).
enum MediaType {
    /// The type without its parameters and in lower case: media types compare without regard to case. Not checked
    /// against the grammar; a value that is no media type equals none.
    static func essence(of value: String) -> String {
        let type = value.utf8.prefix { $0 != UInt8(ascii: ";") }
        return String(decoding: ASCII.trimmed(Array(type)[...]).map(ASCII.lowercased), as: UTF8.self)
    }

    /// The value of the `charset` parameter, unquoted, or nil.
    static func charset(of value: String) -> String? {
        for parameter in value.utf8.split(separator: UInt8(ascii: ";")).dropFirst() {
            let parts = Array(parameter).split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2, ASCII.equalsIgnoringCase(ASCII.trimmed(parts[0]), "charset".utf8) else { continue }
            let text = ASCII.trimmed(parts[1]).filter { $0 != UInt8(ascii: "\"") }
            return String(decoding: text, as: UTF8.self)
        }
        return nil
    }

    /// Whether documents of the type are JSON, by name or by structured suffix (RFC 6839 §3.1).
    static func isJSON(_ essence: String) -> Bool {
        essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json")
    }
}

extension Fields {
    /// The encoding that Content-Type names, or UTF-8 where it names none that is known.
    package var textEncoding: TextEncoding {
        self[.contentType].flatMap(MediaType.charset).flatMap { try? TextEncoding($0) } ?? .utf8
    }

    /// The content coding that the body has, in lower case; nil where it has none but `identity`.
    var contentCoding: String? {
        var coding: String?
        self.forEachToken(in: .contentEncoding) { token in
            if !ASCII.equalsIgnoringCase(token, "identity".utf8) {
                coding = String(decoding: token.map(ASCII.lowercased), as: UTF8.self)
            }
        }
        return coding
    }
}
