// SPDX-License-Identifier: Apache-2.0

import Dispatch
import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust

/// Plays a case against the library in place of the program: a request of the client is a task of a session.
///
/// If the program answers with a problem, or cuts the answer, the task must fail; if the program passes an answer on, the
/// task's result must have the same status, reason, fields and body. The framing of the clients' requests does not matter.
/// It blocks its thread, which must not be one of those that tasks run on.
final class LibraryStage {
    private typealias Outcome = Result<TaskResult, SessionError>

    /// A task whose outcome the case has not described completely yet.
    private struct Asked {
        let method: String
        let outcome: Watched<Outcome?>
    }

    private let way: OriginWay
    private let origin: PuppetOrigin
    private let session: Session
    private var asked: [Asked] = []
    /// Ends with the last request of the client.
    private var running: Task<Void, Never>?
    /// The part of the answer to the first of ``asked`` that the case has described.
    private var answer: [UInt8] = []
    private var current = -1

    private static let engine = Result { try Engine(threads: 1) }
    private static let executor = StageExecutor()

    private init(_ way: OriginWay) throws {
        self.way = way
        let parent = way.parent == nil ? nil : try ParentPort()
        self.origin = try PuppetOrigin(by: way, at: parent)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([OriginWay.root.get().certificate]))
        var configuration = SessionConfiguration()
        if let scheme = way.parent.flatMap({ ProxyServer.Scheme(rawValue: $0.rawValue) }), let port = parent?.port {
            configuration.proxy = ProxyServer(Authority(host: "127.0.0.1", port: UInt16(port)), scheme: scheme)
            configuration.proxy?.policy = policy
        }
        self.session = try Session(engine: Self.engine.get(), configuration: configuration, policy: policy)
    }

    /// - Throws: ``TestFailure`` with the number of the step that did not go as it must.
    static func play(_ test: WireCase, by way: OriginWay) throws {
        let stage = try LibraryStage(way)
        defer {
            stage.session.close()
            stage.origin.stop()
        }
        if way.isUsed {
            for step in WireCase.use { try stage.take(step) }
            guard stage.origin.connectionCount == 1 else { throw TestFailure("no connection was used again") }
        }
        for (index, step) in test.steps.enumerated() {
            do {
                try stage.take(step)
            } catch {
                throw TestFailure("step \(index + 1), \(step): \(error)")
            }
        }
        if let connections = test.connections, connections != stage.origin.connectionCount {
            throw TestFailure("the origin has seen \(stage.origin.connectionCount) connections, not \(connections)")
        }
        for step in WireCase.turn("/afterwards") { try stage.take(step) }
        for number in 0..<stage.origin.connectionCount where !stage.origin.unread(on: number).isEmpty {
            throw TestFailure("the origin got what nobody sent:\n\(shown(stage.origin.unread(on: number)))")
        }
    }

    private func take(_ step: WireCase.Step) throws {
        switch step {
        case .client(let text): try self.ask(LibraryRequest.all(in: text) ?? [])
        case .clientTries, .clientFinishes, .clientLeaves, .refusal:
            throw TestFailure("this is no case for the library (LibraryRequest)")
        case .clientResets: try self.cancel()
        case .newClient: self.running = nil
        case .answer(let text):
            self.answer += self.bytes(text)
            try self.checkAnswer()
        case .problem: try self.expectError()
        case .cut: try self.expectError()
        case .closed: break
        case .seen(let text): try self.expectRequest(self.way.seen(text))
        case .origin(let text): try self.origin.send(self.bytes(text), on: self.current)
        case .originTries(let text): try? self.origin.send(self.bytes(text), on: self.current)
        case .originCloses: self.origin.close(self.current)
        case .originFinishes: self.origin.finishSending(on: self.current)
        case .originResets: self.origin.reset(self.current)
        case .originAbandoned:
            let rest = try self.origin.waitForEnd(of: self.current)
            guard rest.isEmpty else { throw TestFailure("the origin got more:\n\(shown(rest))") }
        }
    }

    private func bytes(_ text: WireBytes) -> [UInt8] { text.bytes(originPort: self.origin.port) }

    // MARK: Requests

    /// Makes the session send requests, each after the answer to the previous one.
    private func ask(_ requests: [LibraryRequest]) throws {
        for request in requests {
            let asked = Asked(method: request.method, outcome: Watched(nil))
            let (session, before) = (self.session, self.running)
            let ready = try request.request(by: self.way, originPort: self.origin.port)
            self.running = Task(executorPreference: Self.executor) {
                await before?.value
                do throws(SessionError) {
                    let result = try await session.data(for: ready, from: request.source)
                    asked.outcome.change { $0 = .success(result) }
                } catch {
                    asked.outcome.change { $0 = .failure(error) }
                }
            }
            self.asked.append(asked)
        }
    }

    private func expectRequest(_ text: WireBytes) throws {
        self.current = try self.origin.waitForBytes(text.text)
        let request = try self.origin.takeRequest(on: self.current)
        let expected = self.bytes(text)
        let line = expected.prefix { $0 != 13 }
        let body = expected.firstRange(of: Array("\r\n\r\n".utf8)).map { expected[$0.upperBound...] } ?? []
        guard Array(request.head.startLine.utf8) == Array(line), request.body == Array(body) else {
            throw TestFailure("the origin got \(request)\nand not:\n\(shown(expected))")
        }
    }

    // MARK: Outcomes

    private func outcome() throws -> (asked: Asked, outcome: Outcome) {
        guard let asked = self.asked.first else { throw TestFailure("nothing was asked") }
        let outcome = try asked.outcome.wait(for: "the outcome of a task") { $0 != nil }
        guard let outcome else { throw TestFailure("a task has no outcome") }
        self.asked.removeFirst()
        return (asked, outcome)
    }

    private func cancel() throws {
        self.running?.cancel()
        let outcome = try self.outcome().outcome
        guard case .failure(let error) = outcome, error.code == .cancelled else {
            throw TestFailure("a task that was cancelled ends with \(outcome)")
        }
        (self.answer, self.running) = ([], nil)
    }

    private func expectError() throws {
        self.answer = []
        let outcome = try self.outcome().outcome
        guard case .failure(let error) = outcome else { throw TestFailure("the task takes it for whole: \(outcome)") }
        guard [.malformedResponse, .truncated, .connectionBroken, .cannotRewind].contains(error.code) else {
            throw TestFailure("the task fails with \(error.code): \(error)")
        }
    }

    private func checkAnswer() throws {
        guard let method = self.asked.first?.method,
            FramingJudge.isComplete(self.answer, to: method, ending: .reset)
        else { return }
        let expected = try PlainResponse(self.answer, to: method)
        self.answer = []
        let outcome = try self.outcome().outcome
        guard case .success(let result) = outcome else { throw TestFailure("the task fails: \(outcome)") }
        let actual = PlainResponse(result, with: expected)
        guard actual == expected else { throw TestFailure("the task has got:\n\(actual)\nand not:\n\(expected)") }
    }
}

extension WireCase {
    /// A request of a client's own, and its answer.
    fileprivate static func turn(_ path: String) -> [Step] {
        [.newClient, .client(ask("GET", path)), .seen(asked("GET", path)), .origin(ok(path)), .answer(okSeen(path))]
    }
}

/// A response without its framing, and without hop-by-hop fields.
private struct PlainResponse: Equatable, CustomStringConvertible {
    private var status: [UInt8]
    private var fields: [[UInt8]] = []
    private var body: [UInt8] = []

    var description: String {
        ([self.status] + self.fields + [[], self.body]).map { shown($0) }.joined(separator: "\n")
    }

    private static let hop: Set = ["via", "connection", "content-length", "transfer-encoding"]

    /// The response that a client of the program gets.
    init(_ bytes: [UInt8], to method: String) throws {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { throw TestFailure("this has no head") }
        let lines = bytes[..<end.lowerBound].split(separator: 10, omittingEmptySubsequences: false)
            .map { Array($0.last == 13 ? $0.dropLast() : $0) }
        self.status = Array(lines[0].dropFirst("HTTP/1.1 ".utf8.count))
        if self.status.first == UInt8(ascii: "1") {
            self = try PlainResponse(Array(bytes[end.upperBound...]), to: method)
            return
        }
        self.fields = lines.dropFirst().filter { !Self.hop.contains(Self.name($0)) }
        let isChunked = lines.contains { Self.name($0) == "transfer-encoding" }
        self.body = isChunked ? Self.unchunked(bytes[end.upperBound...]) : Array(bytes[end.upperBound...])
    }

    /// The response that a task has got, with only those fields that `other` has, too: the program removes some.
    init(_ result: TaskResult, with other: PlainResponse) {
        self.status = Array("\(result.response.status) \(result.response.reason)".utf8)
        self.body = Array(result.body.readableBytesView)
        let names = Set(other.fields.map { Self.name($0) })
        var fields: [[UInt8]] = []
        result.response.fields.forEachLine { _, line in fields.append(Array(line)) }
        self.fields = fields.filter { names.contains(Self.name($0)) }
    }

    private static func name(_ line: [UInt8]) -> String {
        String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
    }

    private static func unchunked(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var (rest, body) = (bytes, [UInt8]())
        while let end = rest.firstRange(of: [13, 10]),
            let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16), size > 0
        {
            body += rest[end.upperBound...].prefix(size)
            rest = rest[end.upperBound...].dropFirst(size + 2)
        }
        return body
    }
}

/// Runs the tasks of stages. Tests that compute for minutes may hold all threads on which tasks run otherwise.
private final class StageExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "pintle.stage", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
