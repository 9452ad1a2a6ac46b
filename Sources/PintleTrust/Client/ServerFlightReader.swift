// SPDX-License-Identifier: Apache-2.0

/// Reads the first bytes that a TLS server sends, as long as they are in clear text: in TLS 1.2 and older they include its
/// certificate (RFC 5246 §7.4.2). It only observes; it takes no part in the handshake.
package struct ServerFlightReader: Sendable {
    /// The result of reading some bytes.
    package enum Finding: Sendable, Hashable {
        /// More bytes are needed.
        case undecided
        /// The DER bytes that the server sent as certificates, leaf first.
        case certificates([[UInt8]])
        /// No certificate can be seen: TLS 1.3 hides it, a resumed session has none, and the bytes may be another protocol.
        case hidden
        /// More bytes than a flight has; a caller that must see the certificate has to end the connection.
        case tooLong
    }

    private enum ContentType {
        static let changeCipherSpec: UInt8 = 20
        static let alert: UInt8 = 21
        static let handshake: UInt8 = 22
    }

    private enum MessageType {
        static let serverHello: UInt8 = 2
        static let certificate: UInt8 = 11
    }

    /// The limit of bytes before a decision: without it, a server could send irrelevant messages for ever. Far above any
    /// chain, as OpenSSL reads 100 KiB at most.
    private static let limit = 256 << 10
    private static let recordHead = 5
    private static let messageHead = 4
    private static let supportedVersions: UInt16 = 43
    private static let tls12: UInt32 = 0x0303

    /// The bytes received of the current record, including its head.
    private var record: [UInt8] = []
    /// The bytes received of the current handshake message.
    private var messages: [UInt8] = []
    private var finding = Finding.undecided
    private var hasHello = false
    /// The number of bytes received.
    private var total = 0

    package init() {}

    /// Takes the next bytes.
    ///
    /// - Returns: the finding; once it is decided, every later call returns it again.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> Finding {
        guard self.finding == .undecided else { return self.finding }
        let kept = self.record.count
        self.record += bytes
        self.total += self.record.count - kept
        var place = 0
        while self.finding == .undecided, let end = self.endOfRecord(from: place) {
            let type = self.record[place]
            let content = self.record[(place + Self.recordHead)..<end]
            place = end
            if type == ContentType.handshake {
                self.messages += content
                self.readMessages()
            } else if type == ContentType.alert, Self.endsHandshake(content) {
                self.finding = .hidden
            }
        }
        self.record.removeFirst(min(place, self.record.count))
        if self.finding == .undecided, self.total > Self.limit { self.finding = .tooLong }
        if self.finding != .undecided { (self.record, self.messages) = ([], []) }
        return self.finding
    }

    /// Returns the end of the record at `place` if it is complete. Decides `.hidden` if it is not part of a flight in clear
    /// text.
    private mutating func endOfRecord(from place: Int) -> Int? {
        let rest = self.record[place...]
        guard let type = rest.first else { return nil }
        // Some clients ignore a ChangeCipherSpec before the hello, as TLS 1.3 requires of them later.
        let isPassedOver = type == ContentType.alert || (type == ContentType.changeCipherSpec && !self.hasHello)
        guard type == ContentType.handshake || isPassedOver, rest.dropFirst().first ?? 3 == 3 else {
            // After the hello, a ChangeCipherSpec encrypts the bytes that follow: the session is resumed.
            self.finding = .hidden
            return nil
        }
        guard rest.count >= Self.recordHead else { return nil }
        let end = place + Self.recordHead + Int(Self.number(rest.dropFirst(3).prefix(2)))
        return end <= self.record.count ? end : nil
    }

    /// True if no client continues after the alert: a fatal one, or close_notify (RFC 5246 §7.2). Clients ignore other
    /// warnings, and alerts in pieces are left to them, so reading continues after both.
    private static func endsHandshake(_ alert: ArraySlice<UInt8>) -> Bool {
        guard alert.count == 2, let level = alert.first, let description = alert.last else { return false }
        return level == 2 || (level == 1 && description == 0)
    }

    private mutating func readMessages() {
        // Removed together: a record has room for sixteen thousand messages, and each removal moves the bytes after it.
        var place = 0
        defer { self.messages.removeFirst(place) }
        while self.finding == .undecided, self.messages.count - place >= Self.messageHead {
            let start = place + Self.messageHead
            let end = start + Int(Self.number(self.messages[place + 1..<start]))
            guard end <= self.messages.count else { return }
            let body = self.messages[start..<end]
            switch self.messages[place] {
            case MessageType.serverHello:
                self.hasHello = true
                if Self.choosesHidden(body) { self.finding = .hidden }
            case MessageType.certificate:
                // A list that cannot be read is treated as one without a certificate.
                self.finding = .certificates(Self.certificates(in: body) ?? [])
            default: break
            }
            place = end
        }
    }

    /// True if a ServerHello chooses a version that hides certificates (RFC 8446 §4.2.1).
    private static func choosesHidden(_ hello: ArraySlice<UInt8>) -> Bool {
        // Version, random, session, cipher suite, compression; then the extensions.
        var rest = hello.dropFirst(2 + 32)
        guard let session = rest.first else { return false }
        rest = rest.dropFirst(1 + Int(session) + 2 + 1 + 2)
        while rest.count >= 4 {
            let size = Int(Self.number(rest.dropFirst(2).prefix(2)))
            guard rest.count >= 4 + size else { return false }
            if Self.number(rest.prefix(2)) == UInt32(Self.supportedVersions) {
                // The extension must not choose an older version, which would hide nothing.
                return size != 2 || Self.number(rest.dropFirst(4).prefix(2)) > Self.tls12
            }
            rest = rest.dropFirst(4 + size)
        }
        return false
    }

    private static func certificates(in body: ArraySlice<UInt8>) -> [[UInt8]]? {
        var rest = body.dropFirst(3)
        guard body.count >= 3, rest.count == Int(Self.number(body.prefix(3))) else { return nil }
        var certificates: [[UInt8]] = []
        while !rest.isEmpty {
            guard rest.count >= 3 else { return nil }
            let size = Int(Self.number(rest.prefix(3)))
            rest = rest.dropFirst(3)
            guard rest.count >= size else { return nil }
            certificates.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return certificates
    }

    /// Returns the bytes as a number in network byte order.
    private static func number(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
