// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleSession
import PintleTrust

@testable import PintleProxy

/// An origin that records its request and refuses calls that a transfer would not make.
final class RecordingOrigin: OriginStream {
    var verdict: Verdict?
    var proxyVerdict: Verdict?
    var responseVersion = "1.1"
    /// Bytes that were sent and not taken yet.
    private(set) var unsentBodyBytes = 0
    /// True while bytes are left waiting until the origin takes them.
    var isSlow = false
    private(set) var isPaused = false
    /// Called from within the next call that gives it something of the body, as a connection does whose answer was complete.
    var whenGiven: (() -> Void)?
    private let transcript: Transcript
    private let request: TransferRequest
    private var sent: UInt64 = 0
    private var sentBytes: [UInt8] = []
    private var hasWholeBody: Bool
    /// True once it was cancelled, or has reported its end.
    private(set) var isOver = false

    init(_ request: TransferRequest, _ transcript: Transcript) {
        self.request = request
        self.transcript = transcript
        self.hasWholeBody = !request.body.isStreamed
        transcript.note("origin < \(request.spelled)")
    }

    /// The request with all that was sent of its body.
    var sentRequest: String {
        var fields = self.request.fields
        var body = self.sentBytes
        switch self.request.body {
        case .none: break
        case .bytes(let bytes):
            body = Array(bytes.readableBytesView)
            fields.append("Content-Length", "\(body.count)")
        case .stream(.some(let length)): fields.append("Content-Length", "\(length)")
        case .stream(nil): fields.append("Transfer-Encoding", "chunked")
        }
        if let upgrade = self.request.upgrade { fields.append("Upgrade", upgrade) }
        let target = RequestTarget.absolute(
            scheme: self.request.scheme, authority: self.request.authority, path: self.request.path)
        return RequestHead(method: self.request.method, target: target, fields: fields).spelledForComparison(body: body)
    }

    /// The origin has taken everything.
    func take() { self.unsentBodyBytes = 0 }

    /// The origin tells of its end next.
    func end() { self.isOver = true }

    // MARK: Calls of the exchange

    func send(_ bytes: ByteBuffer) {
        guard !self.isOver, !self.hasWholeBody else {
            return self.transcript.breach(
                "a body that is not streamed, or is over: \(String.spelled(bytes.readableBytesView))")
        }
        self.sent += UInt64(bytes.readableBytes)
        self.sentBytes += bytes.readableBytesView
        if case .stream(.some(let length)) = self.request.body, self.sent > length {
            self.transcript.breach("\(self.sent) bytes are sent of \(length)")
        }
        self.transcript.note("origin < \(String.spelled(bytes.readableBytesView))")
        if self.isSlow { self.unsentBodyBytes += bytes.readableBytes }
        self.tellGiven()
    }

    private func tellGiven() {
        let whenGiven = self.whenGiven
        self.whenGiven = nil
        whenGiven?()
    }

    func finishBody(trailers: Fields) {
        guard !self.isOver, !self.hasWholeBody else { return self.transcript.breach("a body ends that is over") }
        if case .stream(.some(let length)) = self.request.body {
            if self.sent != length { self.transcript.breach("a body of \(length) bytes ends after \(self.sent)") }
        }
        self.hasWholeBody = true
        self.transcript.note("origin < end of body\(trailers.spelled())")
        self.tellGiven()
    }

    func pauseReading() {
        guard !self.isOver else { return self.transcript.breach("what is over is paused") }
        guard !self.isPaused else { return }
        self.isPaused = true
        self.transcript.note("origin paused")
    }

    func resumeReading() {
        guard !self.isOver else { return self.transcript.breach("what is over reads on") }
        guard self.isPaused else { return }
        self.isPaused = false
        self.transcript.note("origin reads on")
    }

    func takePipes() {
        guard !self.isOver else { return self.transcript.breach("what is over is to use pipes") }
        self.transcript.note("origin may use pipes")
    }

    func cancel() {
        guard !self.isOver else { return self.transcript.breach("what is over is cancelled") }
        self.isOver = true
        self.transcript.note("origin cancelled")
    }
}

/// Opens recording origins, one for each thing that is asked.
final class RecordingOpener: OriginOpener {
    private let transcript: Transcript
    private(set) var origins: [RecordingOrigin] = []
    /// Given to the origins that are opened.
    var isSlow = false
    var verdict: Verdict?
    var parentVerdict: Verdict?

    init(_ transcript: Transcript) { self.transcript = transcript }

    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate
    ) -> any OriginStream {
        if let last = self.origins.last, !last.isOver { self.transcript.breach("a second origin beside the first") }
        let origin = RecordingOrigin(request, self.transcript)
        origin.isSlow = self.isSlow
        (origin.verdict, origin.proxyVerdict) = (self.verdict, self.parentVerdict)
        self.origins.append(origin)
        return origin
    }
}

extension TransferRequest {
    /// Everything that a test may want to know, in one line.
    var spelled: String {
        if self.connectOnly {
            let how = self.scheme == .https ? "handshake with" : "connection to"
            return "\(how) \(self.authority)\((self.connectFields ?? Fields()).spelled())"
        }
        let body =
            switch self.body {
            case .none: ""
            case .bytes(let bytes): " with \(String.spelled(bytes.readableBytesView))"
            case .stream(.some(let length)): " with \(length) bytes to come"
            case .stream(nil): " with chunks to come"
            }
        let upgrade = self.upgrade.map { " offering \($0)" } ?? ""
        let by = if case .by(let link) = self.way { " by \(link.server.authority)" } else { "" }
        return
            "\(self.method) \(self.scheme.rawValue)://\(self.authority.description(for: self.scheme))\(self.path)\(self.fields.spelled())\(body)\(upgrade)\(by)"
    }
}
