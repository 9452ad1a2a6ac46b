// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust

/// An engine and a session for one test, ended with it.
final class SessionStage: Sendable {
    let session: Session
    private let engine: Engine

    init(
        policy: SecurityPolicy = .default, configuration: SessionConfiguration = SessionConfiguration(),
        hooks: SessionHooks = SessionHooks()
    ) throws {
        // One thread, so that a test knows which connections can be used again.
        self.engine = try Engine(threads: 1)
        self.session = try Session(
            engine: self.engine, configuration: configuration, policy: policy, hooks: hooks)
    }

    deinit {
        self.session.close()
        self.engine.stop()
    }
}

/// A request to this machine.
func request(
    _ port: Int, _ path: String = "/", method: String = "GET", scheme: Scheme = .http, host: String = "127.0.0.1",
    fields: Fields = Fields()
) -> SessionRequest {
    guard let url = try? HTTPURL("\(scheme.rawValue)://\(host):\(port)\(path)") else {
        preconditionFailure("\(path) makes no URL")
    }
    return SessionRequest(method, url, fields: fields)
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
