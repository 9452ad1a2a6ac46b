// SPDX-License-Identifier: Apache-2.0

extension Fields {
    /// The most members of a list that says how a connection goes on. Real ones have one to five; each member is looked at,
    /// and a header section of 64 KiB has room for thirty thousand.
    static let memberLimit = 32

    /// Refuses Connection and Upgrade with more than ``memberLimit`` members, repeated ones counted and empty ones not.
    ///
    /// - Throws: ``WireError`` `.malformed` with the field's name.
    func checkListLengths() throws(WireError) {
        // Most sections have neither field, and one pass over their lines says so.
        guard self.lines.contains(where: { $0.name == .connection || $0.name == .upgrade }) else { return }
        for name in [FieldName.connection, .upgrade] {
            var count = 0
            self.forEachToken(in: name) { _ in count += 1 }
            guard count <= Self.memberLimit else {
                throw WireError(.malformed, "\(name.spelling) has more than \(Self.memberLimit) members")
            }
        }
    }
}
