// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Bodies that have to be sent a second time.
@Suite(.timeLimit(.minutes(15))) struct BodyAgainTests {
    /// Too long for any buffer.
    private static let bytes = [UInt8].pattern(300_000)

    enum Kind: CaseIterable, Sendable {
        case bytes, file, replayable, multipart, throttled
    }

    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// An origin that reads a body twice: `/go` asks for it again by `status`.
    private func demanding(_ status: Int) throws -> RawOrigin {
        try origin { request in
            guard request.target == "/go", request["Authorization"] == nil else { return answer(200, [], "done") }
            return answer(status, [status == 401 ? "WWW-Authenticate: Basic realm=\"r\"" : "Location: /there"])
        }
    }

    private func configuration(_ port: Int) throws -> SessionConfiguration {
        var configuration = SessionConfiguration()
        let authority = Authority(host: "127.0.0.1", port: UInt16(port))
        configuration.credentials = [Origin(.http, authority): try Credential(user: "a", password: "b")]
        return configuration
    }

    private func source(_ kind: Kind) throws -> UploadSource {
        switch kind {
        case .bytes, .throttled: return .bytes(ByteBuffer(bytes: Self.bytes))
        case .file: return .file(path: try self.folder.write(Self.bytes, to: "body"))
        case .replayable:
            return .stream(BodyStream { pieces(Array(Self.bytes[..<99_999]), Array(Self.bytes[99_999...])) })
        case .multipart:
            var form = MultipartForm()
            form.append(name: "text", text: "words")
            try form.append(name: "file", file: self.folder.write(Self.bytes, to: "part"))
            return .multipart(form)
        }
    }

    @Test(arguments: [401, 307, 308], Kind.allCases)
    func `SES-33 a body that can be had again is sent again, whole`(status: Int, kind: Kind) async throws {
        let origin = try self.demanding(status)
        let stage = try SessionStage(configuration: self.configuration(origin.port))
        var upload = request(origin.port, "/go", method: "POST")
        if kind == .throttled { upload.throttle = try Throttle(packet: 100_000, delay: .milliseconds(1)) }
        let task = try stage.session.uploadTask(upload, from: self.source(kind))
        task.resume()
        #expect(try await task.value().text == "done")
        let (first, second) = (origin.requests[0], origin.requests[1])
        #expect(second.method == "POST" && first.body == second.body)
        #expect(first["Content-Type"] == second["Content-Type"])
        if kind == .multipart {
            #expect(first["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
            #expect(first.body.count > Self.bytes.count)
        } else {
            #expect(first.body == Self.bytes)
        }
        // The count began at zero again.
        #expect(task.progress.sent == UInt64(second.body.count))
    }

    @Test(arguments: [401, 307, 308])
    func `SES-33 a stream that is used up is asked of the hook`(status: Int) async throws {
        let origin = try self.demanding(status)
        let hooks = RecordedHooks { $0.body = { .stream(BodyStream(pieces(Self.bytes))) } }
        let stage = try SessionStage(configuration: self.configuration(origin.port), hooks: hooks)
        let result = try await stage.data(
            for: request(origin.port, "/go", method: "PUT"), from: .stream(BodyStream(pieces(Self.bytes))))
        #expect(result.text == "done" && origin.requests.map(\.body) == [Self.bytes, Self.bytes])
        #expect(hooks.calls.current.filter { $0 == "body" }.count == 1)
    }

    @Test(arguments: [401, 307, 308])
    func `SES-33 a stream that is used up, and no hook, is an error that says what to do`(status: Int) async throws {
        let origin = try self.demanding(status)
        let stage = try SessionStage(configuration: self.configuration(origin.port))
        let error = await stage.failure(
            of: request(origin.port, "/go", method: "PUT"), from: .stream(BodyStream(pieces([1, 2, 3]))))
        #expect(error?.code == .cannotRewind && error?.message.contains("needsBody") == true)
        #expect(origin.requests.count == 1)
    }

    @Test func `SES-33 an upload without a source asks the hook for its first body`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let hooks = RecordedHooks { $0.body = { .bytes(ByteBuffer(string: "from the hook")) } }
        let stage = try SessionStage(hooks: hooks)
        let task = try stage.session.uploadTask(request(origin.port, method: "POST"), from: nil)
        task.resume()
        #expect(try await task.value().text == "done")
        #expect(origin.requests.first?.text == "from the hook" && hooks.calls.current.first == "body")
    }

    @Test func `a connection that breaks while it is kept alive costs no upload`() async throws {
        let bytes = ByteBuffer(bytes: Self.bytes)
        // Every other connection serves once, takes the next body, and leaves without an answer.
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("first"))
            _ = try connection.readRequest()
            if !connection.number.isMultiple(of: 2) { try connection.send(response("second")) }
        }
        for (number, source) in [UploadSource.bytes(bytes), try self.source(.file)].enumerated() {
            let stage = try SessionStage()
            _ = try await stage.data(for: request(origin.port))
            let task = try stage.session.uploadTask(request(origin.port, "/\(number)", method: "PUT"), from: source)
            task.resume()
            let outcome = await sessionError { _ = try await task.value() }
            // The kernel decides if the connection breaks before or after the last byte; a second connection serves the
            // request.
            #expect(outcome == nil, "\(String(describing: outcome))")
            #expect(task.progress.sent == UInt64(Self.bytes.count), "\(number): \(task.progress)")
        }
    }
}
