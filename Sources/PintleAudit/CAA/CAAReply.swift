// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A name server's answer to a ``CAAQuestion``.
struct CAAReply: Equatable {
    enum Failure: Error, Hashable {
        /// The message answers another question, and may be forged.
        case foreign
        /// The message cannot be read; the reason.
        case malformed(String)
    }

    /// RCODE (RFC 1035 §4.1.1).
    enum Code {
        static let success = 0
        static let noSuchName = 3
    }

    private static let aliasType = 5
    /// The longest chain of aliases that is followed.
    private static let mostAliases = 16

    let code: Int
    /// True if the answer did not fit into a datagram.
    let isTruncated: Bool
    /// The records of the name, or of the name that it is an alias of.
    let records: [CAARecord]

    init(_ message: [UInt8], to question: CAAQuestion) throws(Failure) {
        var reader = Reader(bytes: message)
        guard let id = reader.word(), let flags = reader.word(), let questions = reader.word(),
            let answers = reader.word(), reader.word() != nil, reader.word() != nil,
            id == Int(question.id), flags & 0x8000 != 0, questions == 1,
            let name = reader.name(), name == question.name, reader.word() == CAAQuestion.recordType,
            reader.word() == CAAQuestion.internet
        else { throw .foreign }
        self.code = flags & 0xF
        self.isTruncated = flags & 0x0200 != 0
        guard !self.isTruncated, self.code == Code.success || self.code == Code.noSuchName else {
            self.records = []
            return
        }
        var aliases: [String: String] = [:]
        var found: [String: [CAARecord]] = [:]
        for _ in 0..<answers {
            guard let owner = reader.name(), let type = reader.word(), let kind = reader.word(), reader.skip(4),
                let size = reader.word(), let end = reader.end(after: size)
            else { throw .malformed("a record of it is cut off") }
            if type == Self.aliasType, kind == CAAQuestion.internet {
                guard let target = reader.name(), reader.place == end else {
                    throw .malformed("an alias in it is broken")
                }
                aliases[owner] = target
            } else if type == CAAQuestion.recordType, kind == CAAQuestion.internet {
                guard let record = CAARecord(data: message[reader.place..<end]) else {
                    throw .malformed("a CAA record in it is broken")
                }
                found[owner, default: []].append(record)
            }
            reader.place = end
        }
        var owner = name
        for _ in 0..<Self.mostAliases {
            guard let target = aliases[owner] else { break }
            owner = target
        }
        self.records = found[owner] ?? []
    }

    /// Reads a message from its front.
    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func word() -> Int? {
            guard self.place + 2 <= self.bytes.count else { return nil }
            defer { self.place += 2 }
            return Int(self.bytes[self.place]) << 8 | Int(self.bytes[self.place + 1])
        }

        mutating func skip(_ count: Int) -> Bool {
            guard let end = self.end(after: count) else { return false }
            self.place = end
            return true
        }

        /// Returns the place behind the next `count` bytes; nil if there are fewer.
        func end(after count: Int) -> Int? {
            self.place + count <= self.bytes.count ? self.place + count : nil
        }

        /// Reads a name, which may be continued at an earlier place (RFC 1035 §4.1.4), in lower case and without the root's
        /// dot; nil if it is cut off or too long. A dot in a label, which the text could not show, is escaped.
        mutating func name() -> String? {
            var labels: [String] = []
            var (here, end) = (self.place, Int?.none)
            var length = 0
            while here < self.bytes.count {
                let size = Int(self.bytes[here])
                switch size {
                case 0:
                    self.place = end ?? here + 1
                    return labels.joined(separator: ".")
                case 1..<64:
                    let label = self.bytes[(here + 1)...].prefix(size)
                    length += 1 + size
                    guard label.count == size, length < 255 else { return nil }
                    labels.append(Self.text(of: label))
                    here += 1 + size
                case 0xC0...:
                    guard here + 1 < self.bytes.count else { return nil }
                    let target = (size & 0x3F) << 8 | Int(self.bytes[here + 1])
                    // Each jump goes back, so that the loop ends.
                    guard target < here else { return nil }
                    end = end ?? here + 2
                    here = target
                default: return nil
                }
            }
            return nil
        }

        private static func text(of label: ArraySlice<UInt8>) -> String {
            label.map { byte in
                (0x21...0x7E).contains(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "\\")
                    ? String(UnicodeScalar(ASCII.lowercased(byte))) : "\\\(byte)"
            }.joined()
        }
    }
}
