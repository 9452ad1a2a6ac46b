// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession
internal import PintleTape

/// An exchange with an origin as it passed, with its secrets: what becomes a recording on another thread.
struct RawRecording: Sendable {
    var time = Timestamp.now()
    var request: TapeRequest
    var response: TapeResponse
    var headTime = 0
    var endTime = 0
    /// True once the request has been sent to its end.
    var isRequestWhole = false
    /// The rules for the response; nil if there are none.
    let judge: ResponseValidator?
    /// The reason why a body is not there; nil if all is there.
    private(set) var gap: String?
    /// The reason why it cannot be recorded at all; nil if it can.
    private(set) var loss: String?
    private let memory: RecordingMemory

    init(_ request: TapedRequest, in memory: RecordingMemory) {
        self.memory = memory
        self.request = TapeRequest(method: request.transfer.method, url: request.url, fields: request.transfer.fields)
        self.response = TapeResponse(head: ResponseHead(status: 0))
        self.judge = request.judge
    }

    /// The memory of its bodies and messages.
    var bytes: Int {
        let messages = (self.response.messages ?? []).reduce(0) { $0 + $1.bytes.count + Self.messageOverhead }
        return self.request.body.count + self.response.body.count + messages
    }

    /// The memory of a message beside its bytes.
    static let messageOverhead = 64

    /// True as long as bodies and messages are kept.
    var isKept: Bool { self.gap == nil && self.loss == nil }

    /// Takes memory before something is kept.
    ///
    /// - Parameter bytes: all bytes of bodies and messages that are kept then.
    /// - Returns: false from the first time on that there is none; nothing is kept from then on.
    mutating func hold(_ bytes: Int) -> Bool {
        guard self.isKept else { return false }
        if self.memory.hold(bytes) { return true }
        self.lose("limits.held_bytes has no room for its bodies")
        return false
    }

    /// Keeps no bodies and messages, and notes why.
    mutating func leaveOut(_ reason: String) {
        if self.gap == nil { self.gap = reason }
        self.empty()
    }

    /// Keeps nothing of the response's body, and notes why. The request's stays if it is whole: a tape finds the recording by it,
    /// and says what is missing.
    mutating func leaveOutResponse(_ reason: String) {
        guard self.isRequestWhole else { return self.leaveOut(reason) }
        if self.gap == nil { self.gap = reason }
        (self.response.body, self.response.pieces) = ([], [])
        // A smaller share is never refused.
        _ = self.memory.hold(self.bytes)
    }

    /// Gives the recording up.
    mutating func lose(_ reason: String) {
        if self.loss == nil { self.loss = reason }
        self.empty()
    }

    private mutating func empty() {
        (self.request.body, self.response.body, self.response.pieces) = ([], [], [])
        if self.response.messages != nil { self.response.messages = [] }
        // A smaller share is never refused.
        _ = self.memory.hold(0)
    }

    /// Fields of the connection, and those that are made anew when it is played.
    private static let framing = [
        "Connection", "Keep-Alive", "Transfer-Encoding", "Proxy-Connection", "Upgrade", "Sec-WebSocket-Accept",
        "Sec-WebSocket-Extensions",
    ]

    /// Unpacks the bodies, and judges the response. Takes milliseconds.
    ///
    /// - Parameter limit: the most bytes of a body.
    func recording(limit: Int) -> Recording {
        var (request, requestGap) = ContentUnpacking.request(self.request, limit: limit)
        // Pintle adds it, and `pintle run` with another name each time.
        request.fields.remove("Via")
        var response = self.response
        let isStream = StreamParts.isStream(response.head.fields[.contentType])
        let content = ContentUnpacking.unpack(
            response.body, isStream ? response.pieces : [], response.head.fields, limit: limit)
        (response.body, response.pieces) = (content.bytes, content.pieces)
        let judged = self.judge?.verdict(on: self.response.head, body: self.response.body, bodyBuffer: limit)
        if content.wasPacked { ContentUnpacking.removeCoding(from: &response.head.fields) }
        for name in Self.framing { response.head.fields.remove(name) }
        // A response without a body declares the length of another one's.
        if !response.head.forbidsBody(to: request.method) { response.head.fields.remove("Content-Length") }
        var recording = Recording(
            time: self.time, request: request, response: response, headTime: self.headTime, endTime: self.endTime)
        recording.gap = self.gap ?? requestGap ?? content.gap
        if recording.gap != nil {
            (recording.response.body, recording.response.pieces) = ([], [])
            if recording.response.messages != nil { recording.response.messages = [] }
        } else if response.messages == nil {
            recording.violations = (judged?.kinds ?? []).map(\.rawValue)
        }
        return recording
    }
}
