// SPDX-License-Identifier: Apache-2.0

/// One question to a TLS server, without a socket: which of these groups does it support for the key exchange?
///
/// The answer is the server's request for a share, after which the inquiry ends.
package struct GroupInquiry: Sendable {
    package enum State: Sendable, Hashable {
        /// More bytes of the server are needed.
        case going
        /// The server supports this group, and prefers it to the others.
        case chosen(PostQuantumGroup)
        case failed(HandshakeFailure)
    }

    private enum ContentType {
        static let alert: UInt8 = 21
        static let handshake: UInt8 = 22
    }

    /// The limit of all bytes, twice the longest ServerHello: a server could send warnings without end.
    package static let receiveLimit = 128 << 10
    private static let longestRecord = 1 << 14
    private static let longestExcerpt = 60
    private static let recordHead = 5
    private static let messageHead = 4

    package private(set) var state = State.going
    private let offer: GroupOffer
    private var output: [UInt8]
    private var receivedCount = 0
    /// Bytes of the record that is not complete.
    private var pending: [UInt8] = []
    /// Bytes of the ServerHello that is not complete.
    private var message: [UInt8] = []

    /// - Parameters:
    ///   - host: the server's name, which is sent unless it is an address.
    ///   - groups: the groups that are offered, the preferred one first; at least one.
    package init(host: String, groups: [PostQuantumGroup], using generator: inout some RandomNumberGenerator) {
        self.offer = GroupOffer(groups, host: host, using: &generator)
        self.output = self.offer.record
    }

    /// Returns the bytes that must be sent to the server; each byte is returned once.
    package mutating func takeOutput() -> [UInt8] {
        defer { self.output = [] }
        return self.output
    }

    /// Takes bytes that the server sent.
    package mutating func receive(_ bytes: some Sequence<UInt8>) {
        guard self.state == .going else { return }
        let kept = self.pending.count
        self.pending += bytes
        let isFirst = self.receivedCount == kept
        self.receivedCount += self.pending.count - kept
        // A server that answers in another protocol shows it in its first bytes.
        if isFirst, !Self.looksLikeTLS(self.pending) {
            return self.fail(.plainText(Array(self.pending.prefix(Self.longestExcerpt))))
        }
        guard self.receivedCount <= Self.receiveLimit else {
            return self.fail(.misbehaved("it sent more than \(Self.receiveLimit >> 10) KiB without an end"))
        }
        var rest = self.pending[...]
        while self.state == .going, let record = self.takeRecord(&rest) {
            switch record.type {
            case ContentType.handshake: self.takeMessage(record.content)
            default: self.takeAlert(record.content)
            }
        }
        self.pending = self.state == .going ? Array(rest) : []
    }

    /// Ends the inquiry if it has no answer: the server will send no more.
    package mutating func receiveEnd() {
        guard self.state == .going else { return }
        self.fail(.closed(afterBytes: self.receivedCount))
    }

    private mutating func fail(_ failure: HandshakeFailure) { self.state = .failed(failure) }

    // MARK: Records

    private static func looksLikeTLS(_ bytes: [UInt8]) -> Bool {
        guard let type = bytes.first else { return true }
        return (type == ContentType.alert || type == ContentType.handshake) && (bytes.dropFirst().first ?? 3) == 3
    }

    /// Takes a record from the front; nil if it is not complete, or fails the inquiry.
    private mutating func takeRecord(_ rest: inout ArraySlice<UInt8>) -> (type: UInt8, content: ArraySlice<UInt8>)? {
        guard let type = rest.first, rest.count >= Self.recordHead else { return nil }
        let (version, size) = (rest.dropFirst().prefix(1).number, rest.dropFirst(3).prefix(2).number)
        guard type == ContentType.alert || type == ContentType.handshake, version == 3 else {
            self.fail(.misbehaved("it sent a record of type \(type) in place of its ServerHello"))
            return nil
        }
        guard (1...Self.longestRecord).contains(size) else {
            self.fail(.misbehaved("it sent a record of \(size) bytes"))
            return nil
        }
        guard rest.count >= Self.recordHead + size else { return nil }
        rest = rest.dropFirst(Self.recordHead)
        return rest.take(size).map { (type, $0) }
    }

    /// Takes an alert. A warning that older servers send before their hello, such as `unrecognized_name`, ends nothing.
    private mutating func takeAlert(_ content: ArraySlice<UInt8>) {
        guard content.count == 2, let level = content.first, let code = content.last else {
            return self.fail(.misbehaved("it sent an alert of \(content.count) bytes"))
        }
        if code == 0 { return self.fail(.closed(afterBytes: self.receivedCount)) }
        if level != 1 { self.fail(.alert(TLSAlert(code: code))) }
    }

    // MARK: The answer

    private mutating func takeMessage(_ content: ArraySlice<UInt8>) {
        self.message += content
        guard self.message.count >= Self.messageHead else { return }
        let (type, size) = (self.message[0], self.message[1..<Self.messageHead].number)
        guard type == ServerHello.messageType, size <= ServerHello.longest else {
            return self.fail(
                .misbehaved("it answered the ClientHello with a message of type \(type) and \(size) bytes"))
        }
        guard self.message.count >= Self.messageHead + size else { return }
        guard let hello = ServerHello(self.message[Self.messageHead..<Self.messageHead + size]) else {
            return self.fail(.misbehaved("its ServerHello cannot be read"))
        }
        self.message = []
        self.state = self.judged(hello)
        // Tells the server that the connection ends here on purpose (RFC 8446 §6.1).
        if case .chosen = self.state { self.output += [ContentType.alert, 3, 3, 0, 2, 1, 0] }
    }

    private func judged(_ hello: ServerHello) -> State {
        func misbehaved(_ reason: String) -> State { .failed(.misbehaved(reason)) }
        guard hello.version == GroupOffer.version else {
            return misbehaved("it chose another version than TLS 1.3, which alone was offered")
        }
        guard hello.session == self.offer.session else {
            return misbehaved("its ServerHello does not repeat the session id")
        }
        guard GroupOffer.ciphers.contains(hello.cipher) else {
            return misbehaved("it chose a cipher suite that was not offered")
        }
        guard hello.isRetryRequest else { return misbehaved("it began a key exchange for which it had no share") }
        guard let number = hello.requestedGroup else { return misbehaved("its HelloRetryRequest names no group") }
        guard let group = self.offer.groups.first(where: { $0.rawValue == number }) else {
            return misbehaved("its HelloRetryRequest names a group that was not offered")
        }
        return .chosen(group)
    }
}
