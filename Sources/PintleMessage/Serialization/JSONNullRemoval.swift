// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Takes the nulls out of a document: members of objects with their keys, and elements of arrays, at any depth.
    ///
    /// Everything else stays byte for byte: the order of keys, the spelling of numbers and strings, white space around
    /// what remains. Containers that become empty stay, and so does a null that is the whole document. A document in
    /// UTF-16 or UTF-32 comes back in UTF-8, and a byte order mark is dropped, when there was a null to take out.
    ///
    /// - Returns: the new document, or nil where there was nothing to take out.
    /// - Throws: where and why the bytes stop being JSON.
    public func removingNulls(from bytes: [UInt8]) throws(JSONSyntaxError) -> [UInt8]? {
        JSONNullRemoval.apply(to: try self.checkedUTF8(bytes))
    }
}

/// Copies a document that ``JSONScanner`` has found in order, token by token, and takes back what led to a null.
private enum JSONNullRemoval {
    static func apply(to bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        /// For each open container, and for the document, whether something has been kept in it.
        var hasMember = [false]
        /// Where the result ended before the current element, its comma included, and what `hasMember` was then.
        var mark = (count: 0, hasMember: false)
        var hasRemoved = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            var next = index + 1
            switch byte {
            case UInt8(ascii: "n"):
                next = index + 4
                guard hasMember.count > 1 else { return nil }
                result.removeSubrange(mark.count...)
                hasMember[hasMember.count - 1] = mark.hasMember
                hasRemoved = true
                index = next
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                hasMember[hasMember.count - 1] = true
                hasMember.append(false)
                result.append(byte)
                mark = (result.count, false)
                index = next
                continue
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                hasMember.removeLast()
            case UInt8(ascii: ","):
                mark = (result.count, hasMember[hasMember.count - 1])
                if !mark.hasMember {
                    index = next
                    continue
                }
            case UInt8(ascii: "\""):
                next = Self.endOfString(in: bytes, from: index)
                hasMember[hasMember.count - 1] = true
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":"): break
            default:
                next = Self.endOfWord(in: bytes, from: index)
                hasMember[hasMember.count - 1] = true
            }
            result.append(contentsOf: bytes[index..<next])
            index = next
        }
        return hasRemoved ? result : nil
    }

    private static func endOfString(in bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
        return index + 1
    }

    private static func endOfWord(in bytes: [UInt8], from start: Int) -> Int {
        bytes[start...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: ",") || $0 | 0x20 == UInt8(ascii: "}") }
            ?? bytes.count
    }
}
