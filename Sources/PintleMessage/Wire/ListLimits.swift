// SPDX-License-Identifier: Apache-2.0

extension Fields {
    /// The maximum number of members in Connection and in Upgrade. Real lists have one to five. Each member is processed,
    /// and a header section of 64 KiB has room for thirty thousand.
    static let memberLimit = 32

    /// Refuses Connection and Upgrade with more than ``memberLimit`` members; repeated members count, empty ones do not.
    ///
    /// - Throws: ``WireError`` `.malformed` with the field's name.
    func checkListLengths() throws(WireError) {
        // Most sections have neither field; one pass over their lines shows it.
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
