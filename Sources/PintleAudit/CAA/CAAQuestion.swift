// SPDX-License-Identifier: Apache-2.0

/// A question to a name server for the CAA records of one name (RFC 1035 §4, RFC 8659 §4.1).
struct CAAQuestion: Hashable {
    static let recordType = 257
    static let internet = 1
    /// The size of datagrams that an answer may have, which no network cuts into pieces (RFC 6891 §6.2.5).
    static let payload = 1232
    private static let optionsType = 41

    let id: UInt16
    /// The name in lower case, without a final dot.
    let name: String
    private let labels: [[UInt8]]

    /// Makes a question; nil if the text is no name that servers know.
    init?(name: String, id: UInt16) {
        let name = name.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        // The longest name has 255 bytes with the lengths of its labels and the root's.
        guard labels.allSatisfy({ (1...63).contains($0.count) }), labels.reduce(1, { $0 + 1 + $1.count }) <= 255 else {
            return nil
        }
        self.id = id
        self.name = name
        self.labels = labels
    }

    /// The message, for a datagram.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func append(_ words: Int...) {
            for word in words { bytes += [UInt8(truncatingIfNeeded: word >> 8), UInt8(truncatingIfNeeded: word)] }
        }
        // Recursion is desired; one question and one additional record.
        append(Int(self.id), 0x0100, 1, 0, 0, 1)
        for label in self.labels { bytes += [UInt8(label.count)] + label }
        bytes.append(0)
        append(Self.recordType, Self.internet)
        // EDNS of version 0, without options.
        bytes.append(0)
        append(Self.optionsType, Self.payload, 0, 0, 0)
        return bytes
    }
}
