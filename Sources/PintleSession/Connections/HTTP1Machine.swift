// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// One request and its response over HTTP/1.1 (RFC 9112), without a socket.
///
/// The connection asks for the next bytes to send, passes received ones, and reports failures and the end of the input. It can
/// begin the next exchange when this one is over, if ``takesAnother`` is true then.
///
/// It calls nothing: the connection asks the body and passes the answer. That, and that it is a class with private state, lets the
/// compiler prove that accesses to most of its properties never overlap. In a struct each of them would be an access to the
/// connection's property for the whole, which the runtime checks.
final class HTTP1Machine {
    /// The bytes of the request that are sent next.
    enum Output: Equatable {
        /// ``staged``. If more bytes follow at once, they should share a packet with these.
        case staged(isFollowed: Bool)
        /// Bytes of the body as they are, at most this many.
        case body(atMost: UInt64)
        /// A chunk of the body, which ``stageChunk(_:)`` stages.
        case chunk
        /// The end of a body in chunks, which ``stageLastChunk(_:)`` stages.
        case lastChunk
        /// None, or none for now.
        case nothing
        /// None: the body has ended before its declared length, so the connection must be closed.
        case cut
    }

    /// A part of the response.
    enum Input {
        /// The bytes are used up. A line that has not ended yet must be passed again, with more bytes.
        case more
        case interim(ResponseHead)
        /// The head of the final response, with the declared length of its body.
        case head(ResponseHead, length: UInt64?)
        /// Bytes of the body, by their place in the bytes that were passed.
        case body(Range<Int>)
        /// The 101 after which the connection is no longer one of HTTP.
        case switching(ResponseHead)
    }

    /// The end of the input.
    enum InputEnd {
        /// The origin has closed its output.
        case closed
        /// The connection has ended without the closing alert that TLS demands (RFC 8446 §6.1).
        case cutOff
        /// The connection is broken, with the cause in words.
        case broken(String?)
    }

    /// The part of the request after ``staged``.
    private enum Unsent {
        case nothing
        /// Bytes of a body with a declared length, at least one.
        case length(left: UInt64)
        case chunks
        /// The origin has answered that it does not want the rest.
        case unwanted
        /// No more can be sent.
        case failed(any Error)
    }

    private let limits: HeadLimits
    /// The request's method, on which the framing of its response depends.
    private var method = ""
    /// True if the request offers the origin another protocol.
    private var offersUpgrade = false
    private(set) var staged = ByteBuffer()
    private var unsent = Unsent.nothing
    private var reader: ResponseReader
    private var hasBytes = false

    init(limits: HeadLimits) {
        self.limits = limits
        self.reader = ResponseReader(limits: limits)
    }

    // MARK: Sending

    /// Begins an exchange: stages the head of a request.
    ///
    /// - Parameter forwarder: the proxy that gets the request; nil if the origin does.
    func begin(_ asked: AskedRequest, to forwarder: ProxyServer?) {
        // Not the whole request: a copy of it would retain each of its parts.
        self.method = asked.request.method
        self.offersUpgrade = asked.request.upgrade != nil
        self.reader = ResponseReader(limits: self.limits)
        self.hasBytes = false
        self.staged.clear()
        self.staged.writeRequest(asked, to: forwarder)
        self.unsent =
            switch asked.request.body {
            case .none, .stream(length: 0): .nothing
            case .bytes(let bytes): bytes.readableBytes > 0 ? .length(left: UInt64(bytes.readableBytes)) : .nothing
            case .stream(let length?): .length(left: length)
            case .stream(nil): .chunks
            }
    }

    /// True if the missing bytes of the body are so few that they should be staged behind the head, with ``stageBody(_:)``.
    var takesBodyWithHead: Bool {
        guard case .length(let left) = self.unsent else { return false }
        return left <= UInt64(HTTP1Amounts.togetherLimit)
    }

    /// True if the next output depends on the body.
    var asksForBody: Bool {
        switch self.unsent {
        case .length: true
        case .chunks: self.staged.readableBytes == 0
        case .nothing, .unwanted, .failed: false
        }
    }

    /// Returns the next bytes to be sent.
    ///
    /// - Parameter next: the body's next step; without meaning unless ``asksForBody`` is true.
    func output(_ next: BodyStep) -> Output {
        if self.staged.readableBytes > 0 {
            guard case .length = self.unsent else { return .staged(isFollowed: false) }
            return .staged(isFollowed: next == .bytes)
        }
        switch (self.unsent, next) {
        case (.nothing, _), (.unwanted, _), (.failed, _), (_, .wait): return .nothing
        case (.length(let left), .bytes): return .body(atMost: left)
        case (.length, .end): return .cut
        case (.chunks, .bytes): return .chunk
        case (.chunks, .end): return .lastChunk
        }
    }

    /// Stages bytes of a body with a declared length, at most the missing ones.
    ///
    /// - Returns: the number of staged bytes.
    func stageBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard case .length(let left) = self.unsent else { return 0 }
        let taken = min(bytes.count, Int(clamping: left))
        self.staged.writeBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
        self.sentBody(taken)
        return taken
    }

    /// Stages bytes of the body as a chunk.
    ///
    /// - Returns: the number of staged bytes.
    func stageChunk(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, HTTP1Amounts.chunkLimit)
        self.staged.clear()
        self.staged.writeChunk(UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
        return taken
    }

    /// Stages the end of a body in chunks, with the fields after it.
    func stageLastChunk(_ trailers: Fields) {
        self.staged.clear()
        self.staged.writeLastChunk(trailers)
        self.unsent = .nothing
    }

    /// Notes that bytes of ``staged`` were sent.
    func sentStaged(_ count: Int) { self.staged.moveReaderIndex(forwardBy: count) }

    /// Notes that bytes of a body with a declared length were taken, at most the missing ones.
    func sentBody(_ count: Int) {
        guard case .length(let left) = self.unsent, UInt64(count) <= left else {
            preconditionFailure("BUG: bytes of a body are sent that are not missing")
        }
        self.unsent = left > UInt64(count) ? .length(left: left - UInt64(count)) : .nothing
    }

    /// Notes that nothing more can be sent. The bytes that the origin sent before it stopped reading may be its response (RFC
    /// 9112 §9.5).
    func failedToSend(_ error: any Error) {
        self.staged.clear()
        self.unsent = .failed(error)
    }

    /// True if the whole request was sent, or no more of it will be.
    var isSent: Bool {
        switch self.unsent {
        case .nothing: self.staged.readableBytes == 0
        case .unwanted, .failed: true
        case .length, .chunks: false
        }
    }

    /// True if bytes of the body come next as they are.
    var sendsBodyNext: Bool {
        guard case .length = self.unsent else { return false }
        return self.staged.readableBytes == 0
    }

    // MARK: Receiving

    /// Reads the next part of the response from received bytes.
    ///
    /// - Parameter offset: the index of the first byte to read; moved past those that were read.
    /// - Throws: ``WireError`` if they are not a response to the request.
    func input(_ bytes: UnsafeRawBufferPointer, from offset: inout Int) throws(WireError) -> Input {
        if offset < bytes.count { self.hasBytes = true }
        guard self.reader.isComplete else {
            let found = try self.reader.head(bytes, from: &offset, method: self.method)
            return try self.input(found)
        }
        if let piece = try self.reader.nextBody(bytes, from: &offset) { return .body(piece) }
        offset = bytes.count
        return .more
    }

    private func input(_ found: ResponseReader.Found) throws(WireError) -> Input {
        switch found {
        case .more: return .more
        case .interim(let head): return .interim(head)
        case .head(let head, _) where head.status == 101:
            // After an incomplete request, the rest of its body could not be told from bytes of the new protocol.
            guard self.offersUpgrade, self.isSent else {
                throw WireError(.malformed, "it switches protocols without being asked, or before it has the request")
            }
            return .switching(head)
        case .head(let head, let length):
            // An origin that answers so does not need the rest of the body (RFC 9112 §9.5).
            if head.status >= 300, !self.isSent {
                self.unsent = .unwanted
                self.staged.clear()
            }
            return .head(head, length: length)
        }
    }

    /// Notes that bytes of the body, at most ``missingBytes``, were moved without being read.
    func movedBody(_ count: Int) { self.reader.skip(count) }

    /// The number of missing bytes of a response's body with a declared length; nil if none are missing, or it has none.
    var missingBytes: UInt64? { self.reader.missingBytes }

    /// True if the final head was received.
    var hasHead: Bool { self.reader.isComplete }

    /// The part of the response that was received.
    var received: ResponsePart {
        guard self.reader.isComplete else { return self.hasBytes ? .bytes : .nothing }
        return self.reader.lacksChunks ? .chunks : .head
    }

    /// The version of the response whose head was received: `1.0` or `1.1`.
    var version: String { self.reader.version }

    /// The fields after the body.
    var trailers: Fields { self.reader.trailers }

    // MARK: The end

    /// True if the response is complete, though the request need not be.
    var isAnswered: Bool { self.reader.isBodyOver }

    /// True if both are complete, or no more of the request will be sent.
    var isOver: Bool { self.reader.isBodyOver && self.isSent }

    /// True if the connection can carry another exchange after this one, which is over: both messages were complete, no bytes
    /// came after the response, and the origin allows it (RFC 9112 §9.3).
    var takesAnother: Bool {
        guard case .nothing = self.unsent else { return false }
        return self.staged.readableBytes == 0 && self.reader.keepsConnection && !self.reader.hasExcess
            && !self.offersUpgrade
    }

    /// Returns the reason why the exchange has failed, if the input ends now; nil if the response is complete.
    func failure(after end: InputEnd) -> CarrierFailure? {
        if self.reader.isBodyOver { return nil }
        switch end {
        case .broken(let cause): return .broken(cause)
        case .closed where self.reader.isBodyUnlimited: return nil
        case .closed, .cutOff:
            // The earlier failure has the reason.
            guard !self.hasBytes, case .failed(let error) = self.unsent else { return .closed }
            return .broken(CarrierFailure.words(for: error))
        }
    }

    /// Releases the memory for unsent bytes.
    func end() { self.staged = ByteBuffer() }
}
