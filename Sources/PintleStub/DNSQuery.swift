// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A question of a resolver's client (RFC 1035 §4), read from a datagram or from a message of TCP without its length.
struct DNSQuery: Equatable {
    /// Values of QTYPE that are told apart; there are others.
    enum RecordType {
        static let a: UInt16 = 1
        static let pointer: UInt16 = 12
        static let aaaa: UInt16 = 28
        static let options: UInt16 = 41
    }

    /// The first 12 bytes of a message.
    struct Header: Equatable {
        let id: UInt16
        /// The second word: QR, OPCODE, AA, TC, RD, RA, AD, CD and RCODE.
        let flags: UInt16
    }

    enum Failure: Error, Equatable {
        /// No header, or a response: an answer to it could be answered again without end.
        case unanswerable
        /// The question cannot be read.
        case malformed(Header)
        /// OPCODE is not QUERY.
        case notImplemented(Header)
    }

    let header: Header
    /// The question as it came, with the letters of its name as they were: clients compare it (draft-vixie-dnsext-dns0x20).
    let question: [UInt8]
    /// The name in lower case, without a final dot; empty for the root; nil if a byte of it cannot stand in the name of a host.
    let name: String?
    let type: UInt16
    let isInternet: Bool
    /// The version of EDNS (RFC 6891); nil for a query without.
    let extensions: UInt8?
}

extension DNSQuery {
    private static let headerSize = 12
    /// The length of the longest name with the lengths of its labels (RFC 1035 §2.3.4).
    private static let longestName = 255

    init(_ message: some RandomAccessCollection<UInt8>) throws(Failure) {
        let bytes = Array(message)
        guard bytes.count >= Self.headerSize else { throw .unanswerable }
        let word = { (place: Int) in UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1]) }
        let header = Header(id: word(0), flags: word(2))
        guard header.flags & 0x8000 == 0 else { throw .unanswerable }
        guard header.flags & 0x7800 == 0 else { throw .notImplemented(header) }
        // One question, and no records but additional ones.
        guard word(4) == 1, word(6) == 0, word(8) == 0 else { throw .malformed(header) }
        var place = Self.headerSize
        guard let labels = Self.readName(bytes, &place), place + 4 <= bytes.count else { throw .malformed(header) }
        let (type, kind) = (word(place), word(place + 2))
        place += 4
        let question = Array(bytes[Self.headerSize..<place])
        var extensions: UInt8?
        for _ in 0..<word(10) {
            // Each record takes eleven bytes at least, so the message ends the loop.
            guard let name = Self.readName(bytes, &place), place + 10 <= bytes.count else { throw .malformed(header) }
            let isOptions = word(place) == RecordType.options
            let version = bytes[place + 5]
            place += 10 + Int(word(place + 8))
            guard place <= bytes.count else { throw .malformed(header) }
            guard isOptions else { continue }
            guard name.isEmpty, extensions == nil else { throw .malformed(header) }
            extensions = version
        }
        self.init(
            header: header, question: question, name: Self.text(of: labels), type: type, isInternet: kind == 1,
            extensions: extensions)
    }

    /// Reads the labels of a name, and moves behind it; nil if it is cut off or too long, or has a pointer: a query has nothing
    /// that its question could point to.
    private static func readName(_ bytes: [UInt8], _ place: inout Int) -> [ArraySlice<UInt8>]? {
        let start = place
        var labels: [ArraySlice<UInt8>] = []
        while place < bytes.count {
            let size = Int(bytes[place])
            place += 1
            guard size > 0 else { return labels }
            guard size < 64, place + size <= bytes.count, place + size - start < self.longestName else { return nil }
            labels.append(bytes[place..<place + size])
            place += size
        }
        return nil
    }

    private static func text(of labels: [ArraySlice<UInt8>]) -> String? {
        // A dot inside a label would give two names one text.
        guard labels.allSatisfy({ $0.allSatisfy(self.isNameByte) }) else { return nil }
        return String(decoding: labels.joined(separator: [UInt8(ascii: ".")]).map(ASCII.lowercased), as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: ".") }
}
