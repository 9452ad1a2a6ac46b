// SPDX-License-Identifier: Apache-2.0

/// Masks the content of parts that are no files (RFC 7578): they are what a form without files has as values.
enum MultipartRedaction {
    private static let (blankLine, lineEnd) = (Array("\r\n\r\n".utf8), Array("\r\n--".utf8))

    /// - Parameter hidden: the texts that were masked are added to it.
    static func masked(_ bytes: [UInt8], _ hidden: inout [String]) -> [UInt8] {
        var (result, rest) = ([UInt8](), bytes[...])
        while let head = rest.firstRange(of: Self.blankLine) {
            let fields = String(decoding: rest[..<head.lowerBound], as: UTF8.self).lowercased()
            result += rest[..<head.upperBound]
            rest = rest[head.upperBound...]
            let end = rest.firstRange(of: Self.lineEnd)?.lowerBound ?? rest.endIndex
            if fields.contains("filename") {
                result += rest[..<end]
            } else {
                result += Array(Redaction.mask.utf8)
                hidden.append(String(decoding: rest[..<end], as: UTF8.self))
            }
            rest = rest[end...]
        }
        return result + rest
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
