// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Masks the content of parts that are no files (RFC 7578): they are what a form without files has as values.
package enum MultipartRedaction {
    private static let (blankLine, lineEnd) = (Array("\r\n\r\n".utf8), Array("\r\n--".utf8))

    /// - Parameter hidden: the texts that were masked are added to it.
    static func masked(_ bytes: [UInt8], _ hidden: inout [String]) -> [UInt8] {
        let masked = Self.masked(bytes) { _ in true }
        hidden += masked.hidden
        return masked.bytes
    }

    /// Masks the content of the parts with certain names that are no files.
    ///
    /// - Parameter isSecret: true for the name of a part that is masked; a part without one has an empty name.
    package static func masked(_ bytes: [UInt8], where isSecret: (String) -> Bool) -> (bytes: [UInt8], hidden: [String])
    {
        var (result, hidden, rest) = ([UInt8](), [String](), bytes[...])
        while let head = rest.firstRange(of: Self.blankLine) {
            let fields = String(decoding: rest[..<head.lowerBound], as: UTF8.self).streamSafe
            result += rest[..<head.upperBound]
            rest = rest[head.upperBound...]
            let end = rest.firstRange(of: Self.lineEnd)?.lowerBound ?? rest.endIndex
            if fields.lowercased().contains("filename") || !isSecret(Self.name(in: fields)) {
                result += rest[..<end]
            } else {
                result += Array(Redaction.mask.utf8)
                hidden.append(String(decoding: rest[..<end], as: UTF8.self))
            }
            rest = rest[end...]
        }
        return (result + rest, hidden)
    }

    /// The parameter `name` of a Content-Disposition, in quotation marks or without.
    private static func name(in fields: String) -> String {
        guard let start = fields.firstRange(of: "; name=") else { return "" }
        let value = fields[start.upperBound...]
        return String(
            value.first == "\"" ? value.dropFirst().prefix { $0 != "\"" } : value.prefix { !";\r\n ".contains($0) })
    }
}

extension ArraySlice<UInt8> {
    fileprivate func firstRange(of part: [UInt8]) -> Range<Int>? {
        guard self.count >= part.count else { return nil }
        for start in self.startIndex...(self.endIndex - part.count) where self[start] == part[0] {
            if self[start..<(start + part.count)].elementsEqual(part) { return start..<(start + part.count) }
        }
        return nil
    }
}
