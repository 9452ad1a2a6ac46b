// SPDX-License-Identifier: Apache-2.0

extension Fields {
    /// True if `token` is a comma-separated member of the lines called `name`, ignoring case.
    package func hasToken(_ token: String, in name: FieldName) -> Bool {
        var found = false
        self.forEachToken(in: name) { candidate in
            if ASCII.equalsIgnoringCase(candidate, token.utf8) { found = true }
        }
        return found
    }

    /// Calls `body` with each non-empty member of the comma-separated lists that the lines called `name` hold
    /// (RFC 9110 §5.6.1), without surrounding white space. The bytes are valid during the call only.
    package func forEachToken(in name: FieldName, _ body: (UnsafeRawBufferPointer) -> Void) {
        self.bytes.withUnsafeBytes { all in
            for line in self.lines where line.name == name {
                let start = Int(line.valueStart)
                let value = UnsafeRawBufferPointer(rebasing: all[start..<start + Int(line.valueLength)])
                _ = value.forEachMember(separatedBy: UInt8(ascii: ",")) { member in
                    body(member)
                    return true
                }
            }
        }
    }

    /// Calls `body` with each non-empty member of the lists in the lines called `name`, without surrounding white space, until
    /// it returns false. The bytes are valid during the call only.
    ///
    /// - Parameter separator: a comma or a space. Tabs around a member are removed, too.
    package func forEachMember(
        of name: String, separatedBy separator: UInt8 = UInt8(ascii: ","), _ body: (UnsafeRawBufferPointer) -> Bool
    ) {
        _ = self.contains(name) { value in !value.forEachMember(separatedBy: separator, body) }
    }
}

extension UnsafeRawBufferPointer {
    /// - Returns: false if `body` has returned false, which ends the list.
    @inline(__always)
    fileprivate func forEachMember(separatedBy separator: UInt8, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        var start = 0
        while start < self.count {
            let end = self.firstIndex(of: separator, from: start) ?? self.count
            let member = ASCII.trimmed(self[start..<end])
            if !member.isEmpty, !body(UnsafeRawBufferPointer(rebasing: member)) { return false }
            start = end + 1
        }
        return true
    }
}
