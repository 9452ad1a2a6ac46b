// SPDX-License-Identifier: Apache-2.0

/// Masks the values of members with secret names. It reads JSON only as far as that needs, so that a beginning of a document and a
/// faulty one are masked, too.
package enum JSONRedaction {
    /// Ends of names of secrets, in lower case and without `_`, `-` and blanks.
    private static let ends = [
        "password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "secretkey",
        "authorization", "credential", "credentials", "cookie", "cookies", "sessionid", "cvv", "cvc", "cardnumber",
        "otp",
        "assertion",
    ].map { Array($0.utf8) }

    /// True if a member, a parameter or a field of this name holds a secret.
    package static func isSecret(_ name: [UInt8]) -> Bool {
        // Bytes: a name of a peer's may be one endless character, which takes quadratic time as text.
        let plain = name.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
            .map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
        return self.ends.contains { plain.suffix($0.count).elementsEqual($0) }
    }

    /// - Parameters:
    ///   - keepsEmpty: true to leave `null`, truth values and empty strings, which say nothing, and which programs act on.
    ///   - hidden: the texts that were masked are added to it.
    package static func masked(_ bytes: [UInt8], keepsEmpty: Bool = false, _ hidden: inout [String]) -> [UInt8] {
        var (result, index) = ([UInt8](), 0)
        result.reserveCapacity(bytes.count)
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\"") else {
                result.append(bytes[index])
                index += 1
                continue
            }
            let end = Self.endOfString(bytes, index)
            result += bytes[index..<end]
            let name = Array(bytes[(index + 1)..<max(index + 1, end - 1)])
            index = end
            // A string is a name only before a colon.
            let colon = Self.skipBlanks(bytes, index)
            guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":"), Self.isSecret(name) else { continue }
            let start = Self.skipBlanks(bytes, colon + 1)
            result += bytes[index..<start]
            let after = Self.endOfValue(bytes, start)
            if keepsEmpty, Self.isEmpty(bytes[start..<after]) {
                result += bytes[start..<after]
            } else if after > start {
                result += Array("\"\(Redaction.mask)\"".utf8)
                hidden.append(String(decoding: bytes[start..<after].filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self))
            }
            index = after
        }
        return result
    }

    /// True for values that say nothing: `null`, truth values and empty strings.
    private static func isEmpty(_ value: ArraySlice<UInt8>) -> Bool {
        let end = value.lastIndex { ![0x20, 0x09].contains($0) } ?? value.startIndex
        return self.emptyValues.contains { value[...end].elementsEqual($0) }
    }

    private static let emptyValues = ["null", "true", "false", "\"\""].map { Array($0.utf8) }

    private static func skipBlanks(_ bytes: [UInt8], _ start: Int) -> Int {
        var index = start
        while index < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[index]) { index += 1 }
        return index
    }

    /// The index behind a string, or that of the end.
    private static func endOfString(_ bytes: [UInt8], _ start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""): return index + 1
            default: index += 1
            }
        }
        return bytes.count
    }

    /// The index behind a value, or that of the end.
    private static func endOfValue(_ bytes: [UInt8], _ start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = Self.endOfString(bytes, index)
                if depth == 0 { return index }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
                index += 1
                if depth == 0 { return index }
            case UInt8(ascii: ","), 0x0a, 0x0d:
                if depth == 0 { return index }
                index += 1
            default: index += 1
            }
        }
        return bytes.count
    }
}
