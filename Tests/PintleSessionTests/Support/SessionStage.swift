// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust

/// An engine and a session for one test, ended with it.
final class SessionStage: Sendable {
    let engine: Engine
    let session: Session

    init(
        policy: SecurityPolicy = .default, configuration: SessionConfiguration = SessionConfiguration(),
        hooks: (any HookSet)? = nil, judge: (any AddressJudge)? = nil, sharing engine: Engine? = nil
    ) throws {
        // One thread, so that a test knows which connections can be used again.
        self.engine = try engine ?? Engine(threads: 1)
        self.ownsEngine = engine == nil
        self.session = try Session(
            engine: self.engine, configuration: configuration, policy: policy,
            hooks: hooks?.sessionHooks ?? SessionHooks(), judge: judge)
    }

    private let ownsEngine: Bool

    deinit {
        self.session.close()
        if self.ownsEngine { self.engine.stop() }
    }

    /// Sends a request and reads the whole body.
    func fetch(_ request: SessionRequest, from source: UploadSource? = nil) async throws -> Answer {
        let response = try await self.session.stream(request, from: source)
        var bytes: [UInt8] = []
        for try await piece in response.body { bytes += Array(piece.readableBytesView) }
        _ = try await response.task.value()
        return Answer(
            head: response.head, length: response.length, body: bytes,
            metrics: response.task.metrics.transactions.last ?? TransferMetrics())
    }
}

/// A response that was read to its end.
struct Answer {
    let head: ResponseHead
    let length: UInt64?
    let body: [UInt8]
    let metrics: TransferMetrics

    var text: String { String(decoding: self.body, as: UTF8.self) }
}

/// A request to this machine.
func request(
    _ port: Int, _ path: String = "/", method: String = "GET", scheme: Scheme = .http, host: String = "127.0.0.1",
    fields: Fields = Fields(), timeout: Duration = .seconds(60)
) -> SessionRequest {
    guard let url = try? HTTPURL("\(scheme.rawValue)://\(host):\(port)\(path)") else {
        preconditionFailure("\(host) and \(path) make no URL")
    }
    var request = SessionRequest(method, url, fields: fields)
    request.timeout = timeout
    return request
}

/// A whole response with a length.
func response(_ body: String, fields: String = "") -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
}

/// Runs `work` and returns the error that it must throw.
func sessionError(_ work: () async throws -> Void) async -> SessionError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? SessionError
    }
}
