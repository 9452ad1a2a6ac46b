// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension Fields {
    /// Calls `body` with the bytes of each value of the lines called `name`, in wire order. The bytes are valid during the
    /// call.
    func forEachValue(of name: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        _ = self.contains(name) { value in
            body(value)
            return false
        }
    }

    /// Calls `body` with the bytes of each line's name and value, in wire order. The bytes are valid during the call.
    func forEachField(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        self.forEachLine { _, line in
            // A name is a token, so the first colon is the one that ends it; a space follows.
            let end = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            let start = Swift.min(end + 2, line.endIndex)
            body(UnsafeRawBufferPointer(rebasing: line[..<end]), UnsafeRawBufferPointer(rebasing: line[start...]))
        }
    }

    /// The names of all lines in lower case.
    var lowercaseNames: Set<String> {
        var names: Set<String> = []
        self.forEachField { name, _ in names.insert(Self.lowercase(name)) }
        return names
    }

    /// The section without the lines called `names` (in lower case), made in one pass. It has memory of its own, without
    /// remains of removed lines; other removals leave the lines' bytes in memory.
    func without(_ names: Set<String>) -> Fields {
        var kept = Fields()
        self.forEachField { name, value in
            if !names.contains(Self.lowercase(name)) { kept.append(name: name, value: value) }
        }
        return kept
    }

    /// Replaces the lines whose names are in `later` by the lines of `later`.
    mutating func replace(by later: Fields) {
        var fields = self.without(later.lowercaseNames)
        later.forEachField { name, value in fields.append(name: name, value: value) }
        self = fields
    }

    private static func lowercase(_ name: UnsafeRawBufferPointer) -> String {
        String(decoding: name.lazy.map(ASCII.lowercased), as: UTF8.self)
    }
}
