// SPDX-License-Identifier: Apache-2.0

/// Reads the host name that a TLS client sends in clear text in its ClientHello (RFC 6066 §3). It only observes; it takes
/// no part in the handshake.
///
/// Strict, because servers treat an irregular hello differently: two names, two hellos that differ, an alert before the
/// hello. Such a hello is malformed, and no client needs to send one.
package struct ClientHelloReader: Sendable {
    /// The result of reading some bytes.
    package enum Finding: Sendable, Hashable {
        /// More bytes are needed; those received must not be forwarded yet.
        case undecided
        /// The bytes are not TLS.
        case otherProtocol
        /// A hello with this host name, as the client spells it; nil if it has none.
        case hello(String?)
        /// Nothing new; the bytes received may be forwarded.
        case nothingNew
        /// Bytes in which servers may see different host names; the text is the reason.
        case malformed(String)
    }

    private enum Phase: Hashable {
        /// No hello was seen yet.
        case start
        /// A hello was seen; after a HelloRetryRequest there is another one (RFC 8446 §4.1.4).
        case afterHello(ClientHello)
        /// The bytes that follow are encrypted, or irrelevant.
        case over
    }

    private enum ContentType {
        static let changeCipherSpec: UInt8 = 20
        static let alert: UInt8 = 21
        static let handshake: UInt8 = 22
        static let applicationData: UInt8 = 23
        /// All types that exist; a record of another type is not TLS.
        static let all: ClosedRange<UInt8> = 20...24
    }

    /// The limit of bytes held back. Hellos have some hundred bytes, or some thousand with post-quantum keys.
    package static let limit = 64 << 10
    private static let recordHead = 5
    private static let messageHead = 4
    /// The first byte of the version in the heads of records.
    private static let majorVersion: UInt8 = 3
    private static let longestRecord = 1 << 14

    private var phase = Phase.start
    /// Bytes that were received and not examined yet.
    private var pending: [UInt8] = []
    /// The bytes received of the current hello.
    private var message: [UInt8] = []
    /// The finding that is not returned yet, because the bytes after it are incomplete and must wait.
    private var found: Finding?
    /// The number of bytes still to come of a record that is skipped.
    private var skipped = 0

    package init() {}

    /// True if nothing that follows can be a hello.
    package var isOver: Bool { self.phase == .over }

    /// Takes the next bytes.
    package mutating func read(_ bytes: [UInt8]) -> Finding {
        guard self.phase != .over else { return .nothingNew }
        if self.pending.isEmpty { self.pending = bytes } else { self.pending += bytes }
        var place = 0
        while let step = self.step(&place) {
            if step != .nothingNew { self.found = step }
        }
        self.pending.removeFirst(place)
        if self.phase == .over { (self.pending, self.message) = ([], []) }
        if self.pending.count + self.message.count > Self.limit {
            return self.end(.malformed("its ClientHello is over \(Self.limit >> 10) KiB"))
        }
        guard self.pending.isEmpty, self.message.isEmpty else { return .undecided }
        defer { self.found = nil }
        return self.found ?? .nothingNew
    }

    /// Takes a record, or the rest of a skipped one; nil if it is incomplete.
    private mutating func step(_ place: inout Int) -> Finding? {
        if self.skipped > 0 {
            let count = min(self.skipped, self.pending.count - place)
            self.skipped -= count
            place += count
        }
        let rest = self.pending[place...]
        guard self.phase != .over, let type = rest.first else { return nil }
        if self.phase == .start, self.message.isEmpty {
            guard let isOldHello = Self.beginsOldHello(rest) else { return nil }
            // Servers that support this form answer it with TLS, whatever its version; it cannot hold a host name.
            guard !isOldHello else { return self.end(.hello(nil)) }
        }
        if let finding = self.judge(type, version: rest.dropFirst().first) { return finding }
        guard rest.count >= Self.recordHead else { return nil }
        let size = rest.dropFirst(3).prefix(2).number
        guard type == ContentType.handshake else {
            place += Self.recordHead
            self.skipped = size
            return .nothingNew
        }
        let isFirst = self.phase == .start && self.message.isEmpty
        // Servers ignore the version of a record (RFC 8446 §5.1). If it is an unknown one, only the content tells a hello
        // from another protocol.
        let mayBeAnother = isFirst && rest.dropFirst().first != Self.majorVersion
        guard size > 0, size <= Self.longestRecord else {
            return self.end(
                mayBeAnother ? .otherProtocol : .malformed("a record of its ClientHello has \(size) bytes"))
        }
        if mayBeAnother, rest.count < Self.recordHead + Self.messageHead { return nil }
        if self.message.isEmpty, !ClientHello.canBegin(with: rest.dropFirst(Self.recordHead).prefix(size)) {
            // After the first hello, any other message, perhaps an encrypted one, means that no hello follows.
            if mayBeAnother { return self.end(.otherProtocol) }
            return self.end(self.phase == .start ? .malformed("it begins with no ClientHello") : .nothingNew)
        }
        guard rest.count >= Self.recordHead + size else { return nil }
        self.message += rest.dropFirst(Self.recordHead).prefix(size)
        place += Self.recordHead + size
        return self.takeMessage()
    }

    /// True if the client begins with a ClientHello in the form of SSL 2 (RFC 5246 §E.2): a length in two bytes whose first
    /// bit is set, type 1, and a version of SSL or TLS. Nil if there are too few bytes to decide.
    private static func beginsOldHello(_ bytes: ArraySlice<UInt8>) -> Bool? {
        let expected: [(UInt8) -> Bool] = [{ $0 & 0x80 != 0 }, { _ in true }, { $0 == 1 }, { $0 == 3 || $0 == 0 }]
        guard zip(bytes, expected).allSatisfy({ $1($0) }) else { return false }
        guard bytes.count >= Self.recordHead else { return nil }
        let version = bytes.dropFirst(3).prefix(2).number
        return version >> 8 == 3 || version == 2
    }

    /// Returns the finding that follows from the head of a record alone, if any.
    private mutating func judge(_ type: UInt8, version: UInt8?) -> Finding? {
        let isFirst = self.phase == .start && self.message.isEmpty
        let isVersion = (version ?? Self.majorVersion) == Self.majorVersion || isFirst && type == ContentType.handshake
        guard ContentType.all.contains(type), isVersion else {
            return self.end(isFirst ? .otherProtocol : .malformed("its ClientHello is broken off by other bytes"))
        }
        // Too few bytes to tell it from other protocols, or a handshake record, which its content decides.
        guard version != nil, type != ContentType.handshake else { return nil }
        if isFirst { return self.end(.malformed("it begins with no ClientHello")) }
        guard self.message.isEmpty, case .afterHello(let hello) = self.phase else {
            return self.end(.malformed("its ClientHello is broken off by another record"))
        }
        switch type {
        case ContentType.changeCipherSpec, ContentType.alert: return nil
        // A second hello may follow early data.
        case ContentType.applicationData where hello.announcesEarlyData: return nil
        default: return self.end(.nothingNew)
        }
    }

    private mutating func takeMessage() -> Finding {
        guard self.message.count >= Self.messageHead else { return .nothingNew }
        let end = Self.messageHead + self.message[1...3].number
        guard end <= Self.limit else {
            return self.end(.malformed("its ClientHello is over \(Self.limit >> 10) KiB"))
        }
        guard self.message.count >= end else { return .nothingNew }
        guard self.message.count == end, let hello = ClientHello(self.message[Self.messageHead..<end]) else {
            return self.end(.malformed("its ClientHello cannot be read"))
        }
        self.message = []
        if case .afterHello(let first) = self.phase, first.serverName != hello.serverName {
            return self.end(.malformed("its second ClientHello names another server than the first"))
        }
        self.phase = hello.mayBeRepeated ? .afterHello(hello) : .over
        return .hello(hello.serverName)
    }

    private mutating func end(_ finding: Finding) -> Finding {
        self.phase = .over
        return finding
    }
}

/// The relevant fields of a ClientHello (RFC 8446 §4.1.2, and older versions, which may have no extensions).
private struct ClientHello: Hashable {
    private static let messageType: UInt8 = 1
    private static let supportedVersionsType = 43
    private static let serverNameType = 0
    private static let earlyDataType = 42
    private static let hostNameType: UInt8 = 0

    private(set) var serverName: String?
    private(set) var announcesEarlyData = false
    /// True if the server may answer with a HelloRetryRequest, because TLS 1.3 is offered.
    private(set) var mayBeRepeated = false

    /// True if a record whose content begins with these bytes can be one of a hello. An encrypted one is mistaken for a
    /// hello once in 2^24 times, and only with TLS 1.2.
    static func canBegin(with bytes: ArraySlice<UInt8>) -> Bool {
        // The type, a length of at most 64 KiB in three bytes, and the first half of the version.
        (bytes.first ?? Self.messageType) == Self.messageType && (bytes.dropFirst().first ?? 0) == 0
            && (bytes.dropFirst(4).first ?? 3) == 3
    }

    /// Reads the body of the message; nil if it is not a complete ClientHello up to the last byte.
    init?(_ body: ArraySlice<UInt8>) {
        // Version and random, session, cipher suites, compression; then the extensions.
        var rest = body.dropFirst(2 + 32)
        guard body.count > 2 + 32, rest.takeVector(1) != nil, rest.takeVector(2) != nil, rest.takeVector(1) != nil
        else {
            return nil
        }
        if rest.isEmpty { return }
        guard var extensions = rest.takeVector(2), rest.isEmpty else { return nil }
        var types: Set<Int> = []
        while !extensions.isEmpty {
            guard extensions.count >= 4 else { return nil }
            let type = extensions.prefix(2).number
            extensions = extensions.dropFirst(2)
            guard types.insert(type).inserted, let content = extensions.takeVector(2) else { return nil }
            if type == Self.earlyDataType { self.announcesEarlyData = true }
            if type == Self.supportedVersionsType { self.mayBeRepeated = true }
            guard type == Self.serverNameType else { continue }
            guard let name = Self.hostName(in: content) else { return nil }
            self.serverName = name
        }
    }

    /// Returns the name in the list in the extension. The list must have one name, of the only kind that exists.
    private static func hostName(in content: ArraySlice<UInt8>) -> String? {
        var content = content
        guard var list = content.takeVector(2), content.isEmpty, list.first == Self.hostNameType else { return nil }
        list = list.dropFirst()
        guard let name = list.takeVector(2), list.isEmpty, (1...255).contains(name.count),
            name.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: name, as: UTF8.self)
    }
}
