// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization

/// Keeps copies of the bodies of an exchange under way. Used on the exchange's event loop.
final class ExchangeCapture: MessageKeeper {
    private let rules: CaptureRules
    private var content = CapturedBodies.Content()
    /// The bytes taken from the store.
    private var taken = 0
    /// False once there was no room.
    private var hasRoom = true

    init(_ rules: CaptureRules) { self.rules = rules }

    // The bytes may not have been handed over.
    deinit { self.rules.store.giveBack(self.taken) }

    /// True while the next bytes of the request's body are to be kept.
    var wantsRequest: Bool { self.hasRoom && self.content.request.bytes.count < self.rules.bodies }
    /// True while the next bytes of the response's body are to be kept.
    var wantsResponse: Bool { self.hasRoom && self.content.response.bytes.count < self.rules.bodies }

    /// Takes the cookies that the route's jar adds to a request, to hide them. Without room for them, nothing that comes later is
    /// kept.
    func note(cookies: String) {
        if self.takeRoom(cookies.utf8.count) { self.content.cookies.append(cookies) }
    }

    /// Takes a piece of the body that the client sends.
    func take(request piece: UnsafeRawBufferPointer) { self.keep(piece, \.request) }

    /// Begins with the response that the client gets.
    func begin(response head: ResponseHead) {
        self.content.response.type = head.fields[.contentType]
        self.content.response.codings = head.fields.values(of: "Content-Encoding")
    }

    /// Notes that the body that the client gets is not the origin's.
    func noteChange() { self.content.isChanged = true }

    /// Takes a piece of the body that the client gets.
    func take(response piece: UnsafeRawBufferPointer) { self.keep(piece, \.response) }

    private func keep(
        _ piece: UnsafeRawBufferPointer, _ part: WritableKeyPath<CapturedBodies.Content, CapturedBodies.Part>
    ) {
        self.content[keyPath: part].size += piece.count
        let count = min(piece.count, self.rules.bodies - self.content[keyPath: part].bytes.count)
        // Enough is kept, or there is no room.
        guard count > 0, self.takeRoom(count) else { return }
        self.content[keyPath: part].bytes.append(contentsOf: piece.prefix(count))
    }

    private func takeRoom(_ count: Int) -> Bool {
        self.hasRoom = self.hasRoom && self.rules.store.take(count)
        if self.hasRoom { self.taken += count }
        return self.hasRoom
    }

    // MARK: WebSockets

    /// The most bytes that are kept of one message.
    var longest: Int { self.rules.bodies }

    /// Takes room for bytes that are not kept.
    ///
    /// - Returns: false if there is none.
    func takeWorkspace(_ count: Int) -> Bool { self.rules.store.take(count) }

    func giveBackWorkspace(_ count: Int) { self.rules.store.giveBack(count) }

    /// The most bytes of all messages, as a multiple of that of a body.
    private static let bodiesOfMessages = 16
    private static let mostMessages = 1000

    private var bytesOfMessages = 0

    /// Keeps the beginning of a message of a WebSocket.
    ///
    /// - Returns: false if no more messages are kept.
    func keep(_ message: ByteBuffer, _ kind: ShownMessage.Kind, fromClient isFromClient: Bool) -> Bool {
        let count = min(message.readableBytes, self.rules.bodies)
        guard self.content.messages.count < Self.mostMessages,
            self.bytesOfMessages + count <= self.rules.bodies * Self.bodiesOfMessages,
            self.takeRoom(count + CaptureStore.overhead)
        else { return false }
        self.bytesOfMessages += count
        self.content.messages.append(
            ShownMessage(
                time: .now(), isFromClient: isFromClient, kind: kind,
                bytes: Array(message.readableBytesView.prefix(count)),
                isWhole: count == message.readableBytes))
        return true
    }

    // The messages before are shown.
    func loseTrack() {}

    // The bodies and messages are handed over with the exchange.
    func end() {}

    /// Hands the bodies over.
    ///
    /// - Parameter sizes: the lengths of the bodies; nil for a relay, which has none.
    /// - Returns: nil if there are none.
    func finish(_ sizes: (request: Int, response: Int)?) -> CapturedBodies? {
        var content = self.content
        // Bytes that pass by pipes are not seen here.
        if let sizes { (content.request.size, content.response.size) = sizes }
        guard content.request.size + content.response.size + content.messages.count > 0 else { return nil }
        self.taken = 0
        self.content = CapturedBodies.Content()
        return CapturedBodies(content, self.rules)
    }
}

extension ExchangeReport {
    /// Records a response that was judged, with the violation despite which it passes.
    func note(_ judged: HeldResponse, _ violation: ValidationError?) {
        if let violation { self.violated(violation) }
        if judged.isReplaced { self.capture?.noteChange() }
    }
}
