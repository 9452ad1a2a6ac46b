// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSession
import PintleTesting

/// Serves 1,000 bytes, of which the first request gets 500 and then nothing more.
enum HalfwayOrigin {
    /// The answer to a request for the rest.
    enum Answer: Sendable {
        case rest, whole, otherBytes, alwaysOtherBytes, otherValidator, unsatisfied, failure
    }

    static let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    static let newBytes = (0..<800).map { UInt8(truncatingIfNeeded: $0 &* 11) }

    static func make(
        answering answer: Answer = .rest, fields: String = "ETag: \"abc\"\r\n"
    ) throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request["Range"] != nil {
                    try Self.send(answer, fields, to: connection.stream)
                } else if connection.number == 0 {
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\(fields)\r\n")
                    try connection.stream.send(Array(Self.bytes.prefix(500)))
                    _ = try connection.waitForEnd()
                } else if answer == .alwaysOtherBytes || answer == .failure {
                    try Self.send(answer, fields, to: connection.stream)
                } else {
                    try Self.send("200 OK", fields, Self.newBytes, to: connection.stream)
                }
            }
        }
    }

    private static func send(_ answer: Answer, _ fields: String, to stream: SocketStream) throws {
        let rest = Array(Self.bytes.dropFirst(500))
        switch answer {
        case .rest:
            try Self.send("206 Partial", "\(fields)Content-Range: bytes 500-999/1000\r\n", rest, to: stream)
        case .whole: try Self.send("200 OK", "ETag: \"new\"\r\n", Self.newBytes, to: stream)
        case .otherBytes, .alwaysOtherBytes:
            try Self.send(
                "206 Partial", "\(fields)Content-Range: bytes 600-999/1000\r\n", rest.dropFirst(100), to: stream)
        case .otherValidator:
            let fields = "ETag: \"new\"\r\nContent-Range: bytes 500-999/1000\r\n"
            try Self.send("206 Partial", fields, rest, to: stream)
        case .unsatisfied: try Self.send("416 Range", "Content-Range: bytes */800\r\n", [], to: stream)
        case .failure: try Self.send("503 Later", "", Array("busy".utf8), to: stream)
        }
    }

    private static func send(
        _ status: String, _ fields: String, _ body: some Collection<UInt8>, to stream: SocketStream
    ) throws {
        try stream.send("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\(fields)\r\n")
        try stream.send(Array(body))
    }
}

/// Records its calls.
actor RecordingSink: BodySink {
    struct Full: Error, Equatable {
        let after: Int
    }

    private(set) var bytes: [UInt8] = []
    private(set) var restarts = 0
    private(set) var closings = 0
    private let room: Int
    private let closingFailure: Full?

    init(room: Int = .max, closingFailure: Full? = nil) {
        self.room = room
        self.closingFailure = closingFailure
    }

    func write(_ bytes: ByteBuffer) throws {
        guard self.bytes.count + bytes.readableBytes <= self.room else { throw Full(after: self.bytes.count) }
        self.bytes += bytes.readableBytesView
    }

    func restart() {
        self.bytes = []
        self.restarts += 1
    }

    func close() throws {
        self.closings += 1
        if let closingFailure { throw closingFailure }
    }
}

extension TransferOperation {
    /// Waits until this many bytes of the body have arrived.
    func reach(_ count: UInt64) async {
        for await step in self.progressStream where step.received >= count { return }
    }

    func reach(_ state: State) async {
        for await now in self.stateStream where now == state { return }
    }

    /// Waits for the end, whatever it is.
    @discardableResult
    func end() async -> SessionError? {
        await sessionError { _ = try await self.value() }
    }

    /// Waits for half of the body, pauses, and resumes.
    func interrupt() async {
        self.start()
        await self.reach(500)
        self.pause()
        self.resume()
    }
}

extension SessionEvent {
    /// The operation, and true if it was started; nil for other events.
    var operation: (started: Bool, TransferOperation)? {
        switch self {
        case .operationStarted(let operation): (operation as? TransferOperation).map { (true, $0) }
        case .operationStopped(let operation): (operation as? TransferOperation).map { (false, $0) }
        case .taskResumed, .taskSuspended, .taskCompleted, .downloadMoved, .downloadMoveFailed, .sessionInvalidated:
            nil
        }
    }
}
