// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// An answer to a ``DNSQuery``: a code and at most one record, so that a datagram of 512 bytes always holds it (RFC 1035
/// §2.3.4).
struct DNSAnswer: Equatable {
    /// RCODE (RFC 1035 §4.1.1, RFC 6891 §9).
    enum Code: UInt16 {
        case success = 0
        case malformed = 1
        case failed = 2
        case noSuchName = 3
        case notImplemented = 4
        case refused = 5
        /// A version of EDNS that is not known.
        case badVersion = 16
    }

    enum Record: Equatable {
        case address(IPAddress)
        /// The name of an address.
        case pointer(String)
    }

    let code: Code
    var record: Record?

    /// No name outlives a run, but programs that keep answers for longer would also keep refusals.
    static let lifetime: UInt32 = 1
    /// The size of datagrams that an answer says it can take.
    private static let payload: UInt16 = 1232

    /// Writes the answer to a query.
    func bytes(to query: DNSQuery) -> [UInt8] {
        let record = self.record.flatMap(Self.data)
        var message = Self.header(
            query.header, self.code, answers: record == nil ? 0 : 1, additional: query.extensions == nil ? 0 : 1)
        message.bytes += query.question
        if let record {
            // The name is that of the question, behind the header.
            message.append(0xC00C)
            message.append(record.type)
            message.append(1)
            message.append(UInt16(truncatingIfNeeded: Self.lifetime >> 16))
            message.append(UInt16(truncatingIfNeeded: Self.lifetime))
            message.append(UInt16(record.data.count))
            message.bytes += record.data
        }
        if query.extensions != nil {
            message.bytes.append(0)
            message.append(DNSQuery.RecordType.options)
            message.append(Self.payload)
            message.append((self.code.rawValue >> 4) << 8)
            message.append(0)
            message.append(0)
        }
        return message.bytes
    }

    /// Writes the answer to a message that is no query; nil if it gets none.
    static func bytes(to failure: DNSQuery.Failure) -> [UInt8]? {
        switch failure {
        case .unanswerable: nil
        case .malformed(let header): Self.header(header, .malformed, questions: 0).bytes
        case .notImplemented(let header): Self.header(header, .notImplemented, questions: 0).bytes
        }
    }

    // MARK: Parts

    private struct Message {
        var bytes: [UInt8] = []

        mutating func append(_ word: UInt16) {
            self.bytes.append(UInt8(word >> 8))
            self.bytes.append(UInt8(word & 0xFF))
        }
    }

    /// Writes a header: a response with OPCODE, RD and CD of the query, from a server that resolves.
    private static func header(
        _ query: DNSQuery.Header, _ code: Code, questions: UInt16 = 1, answers: UInt16 = 0, additional: UInt16 = 0
    ) -> Message {
        var message = Message()
        message.append(query.id)
        message.append(0x8080 | query.flags & 0x7910 | code.rawValue & 0xF)
        for count in [questions, answers, 0, additional] { message.append(count) }
        return message
    }

    private static func data(_ record: Record) -> (type: UInt16, data: [UInt8])? {
        switch record {
        case .address(let address):
            let isV4 = address.family == .v4
            let bytes = (isV4 ? [] : Self.bytes(of: address.high)) + Self.bytes(of: address.low)
            return (isV4 ? DNSQuery.RecordType.a : DNSQuery.RecordType.aaaa, isV4 ? Array(bytes.suffix(4)) : bytes)
        case .pointer(let name):
            let labels = name.split(separator: ".")
            guard labels.allSatisfy({ $0.utf8.count < 64 }) else { return nil }
            return (DNSQuery.RecordType.pointer, labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0])
        }
    }

    private static func bytes(of word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
}
