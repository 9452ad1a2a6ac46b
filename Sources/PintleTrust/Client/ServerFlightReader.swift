// SPDX-License-Identifier: Apache-2.0

/// Reads the beginning of what a TLS server sends, for as long as it is in clear text: in TLS 1.2 and older that is up to its
/// certificate (RFC 5246 §7.4.2). It looks on; it takes no part in the handshake.
package struct ServerFlightReader: Sendable {
    /// What there was to see.
    package enum Finding: Sendable, Hashable {
        /// More bytes are needed.
        case undecided
        /// The DER bytes that the server sent as certificates, leaf first.
        case certificates([[UInt8]])
        /// No certificate can be seen: TLS 1.3 hides it, a resumed session has none, and other protocols have no place for
        /// one.
        case hidden
        /// More bytes than a flight has; whoever relies on a look at the certificate must not go on.
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

    /// Of all that comes before a decision, since messages of nothing could go on for ever. Far above any chain: OpenSSL
    /// reads 100 KiB at most.
    private static let limit = 256 << 10
    private static let recordHead = 5
    private static let messageHead = 4
    private static let supportedVersions: UInt16 = 43
    private static let tls12: UInt32 = 0x0303

    /// What has come of the record under way, its head included.
    private var record: [UInt8] = []
    /// What has come of the handshake message under way.
    private var messages: [UInt8] = []
    private var finding = Finding.undecided
    private var hasHello = false
    /// How many bytes have come.
    private var total = 0

    package init() {}

    /// Takes what came next.
    ///
    /// - Returns: what there was to see; once it is decided, the same for whatever follows.
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

    /// The end of the record that begins at `place`, if it is all there. Decides where it is no part of a flight in clear.
    private mutating func endOfRecord(from place: Int) -> Int? {
        let rest = self.record[place...]
        guard let type = rest.first else { return nil }
        // Some clients pass over a change of cipher that comes before the hello, as TLS 1.3 demands of them later.
        let isPassedOver = type == ContentType.alert || (type == ContentType.changeCipherSpec && !self.hasHello)
        guard type == ContentType.handshake || isPassedOver, rest.dropFirst().first ?? 3 == 3 else {
            // After the hello a change of cipher hides what comes: the session is resumed.
            self.finding = .hidden
            return nil
        }
        guard rest.count >= Self.recordHead else { return nil }
        let end = place + Self.recordHead + Int(Self.number(rest.dropFirst(3).prefix(2)))
        return end <= self.record.count ? end : nil
    }

    /// Whether an alert is one that no client goes on after: a fatal one, or the end (RFC 5246 §7.2). Clients pass over
    /// other warnings, and alerts in pieces are left to them, so a look at the certificate must outlast both.
    private static func endsHandshake(_ alert: ArraySlice<UInt8>) -> Bool {
        guard alert.count == 2, let level = alert.first, let description = alert.last else { return false }
        return level == 2 || (level == 1 && description == 0)
    }

    private mutating func readMessages() {
        // Removed together: a record has room for sixteen thousand messages, and each removal moves what is behind it.
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
                // A list that cannot be read is judged as one without a certificate.
                self.finding = .certificates(Self.certificates(in: body) ?? [])
            default: break
            }
            place = end
        }
    }

    /// Whether a ServerHello chooses a version that hides certificates (RFC 8446 §4.2.1).
    private static func choosesHidden(_ hello: ArraySlice<UInt8>) -> Bool {
        // Version, random, session, cipher suite, compression; then the extensions.
        var rest = hello.dropFirst(2 + 32)
        guard let session = rest.first else { return false }
        rest = rest.dropFirst(1 + Int(session) + 2 + 1 + 2)
        while rest.count >= 4 {
            let size = Int(Self.number(rest.dropFirst(2).prefix(2)))
            guard rest.count >= 4 + size else { return false }
            if Self.number(rest.prefix(2)) == UInt32(Self.supportedVersions) {
                // An older version must not be chosen by it, and would hide nothing.
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

    /// In network byte order.
    private static func number(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
