// SPDX-License-Identifier: Apache-2.0

import Foundation
import Pintle

/// Answers the origin's challenges with a name and a password.
private func answers(with credential: Credential) -> SessionHooks {
    SessionHooks { hooks in
        hooks.wasChallenged = { task, challenge in
            // A second challenge means they were wrong; Basic without TLS would show them to observers on the path.
            guard !challenge.isProxy, challenge.previousFailureCount == 0 else { return .performDefault }
            if case .basic = challenge.method, !task.currentRequest.url.isSecure { return .reject }
            return .use(credential)
        }
        hooks.willRedirect = { task, request, _ in
            // The files are for the origin that was named, and for no other.
            request.url.isSameOrigin(as: task.originalRequest.url) ? request : nil
        }
    }
}

/// Sends files as parts of a form, each read while it is sent, and prints the result.
func upload(
    _ files: [String], to url: String, roots: SecurityPolicy.Roots, as credential: Credential
) async throws {
    let engine = try Engine(threads: 1)
    let policy = try SecurityPolicy(pinning: .none, roots: roots)
    let session = try Session(engine: engine, policy: policy, hooks: answers(with: credential))
    let events = session.eventStream()

    var form = MultipartForm()
    form.append(name: "count", text: "\(files.count)")
    for file in files { try form.append(name: "file", file: file) }

    let task = try session.uploadTask(SessionRequest("POST", url), from: .multipart(form))
    task.resume()
    let result = try await task.value()
    print("status \(result.response.status), \(task.progress.sent) bytes sent")

    await session.finishTasksAndInvalidate()
    for await case .taskCompleted(let task) in events {
        for request in task.metrics.transactions {
            let connection = request.reusedConnection ? "the same connection" : "a new connection"
            print("\(request.address) by HTTP/\(request.httpVersion) on \(connection), \(request.total)")
        }
    }
    engine.stop()

    guard 200..<300 ~= result.response.status else { throw UploadRefused(status: result.response.status) }
}

/// The error if the server has not accepted the files.
struct UploadRefused: Error {
    let status: UInt16
}
