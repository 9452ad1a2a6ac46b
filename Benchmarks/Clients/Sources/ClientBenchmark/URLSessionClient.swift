// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// On Linux it trusts the system's certificates.
struct URLSessionClient: Client {
    private let session = URLSession(configuration: .ephemeral)
    private let base: String

    init(base: String) { self.base = base }

    private func url(_ path: String) throws -> URL {
        guard let url = URL(string: self.base + path) else {
            throw UnexpectedAnswer(description: "\(self.base + path) is no URL")
        }
        return url
    }

    private static func check(_ response: URLResponse) throws {
        try UnexpectedAnswer.check(status: (response as? HTTPURLResponse)?.statusCode ?? 0)
    }

    func get(_ path: String) async throws -> Int {
        let (data, response) = try await self.session.data(from: self.url(path))
        try Self.check(response)
        return data.count
    }

    /// On Linux there is no `bytes(from:)`; a delegate receives the pieces.
    func stream(_ path: String) async throws -> Int {
        let url = try self.url(path)
        return try await withCheckedThrowingContinuation { done in
            let session = URLSession(
                configuration: .ephemeral, delegate: CountingDelegate(done), delegateQueue: nil)
            session.dataTask(with: url).resume()
            session.finishTasksAndInvalidate()
        }
    }

    func download(_ path: String, to file: String) async throws {
        let (place, response) = try await self.session.download(from: self.url(path))
        try Self.check(response)
        let destination = URL(fileURLWithPath: file)
        try? FileManager.default.removeItem(at: destination)
        try FileManager.default.moveItem(at: place, to: destination)
    }

    func upload(_ path: String, from file: String) async throws {
        var request = URLRequest(url: try self.url(path))
        request.httpMethod = "PUT"
        let (_, response) = try await self.session.upload(for: request, fromFile: URL(fileURLWithPath: file))
        try Self.check(response)
    }

    func close() async throws { self.session.finishTasksAndInvalidate() }
}

// Why @unchecked holds: a session calls its delegate in turn, on one queue.
private final class CountingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let done: CheckedContinuation<Int, any Error>
    private var count = 0

    init(_ done: CheckedContinuation<Int, any Error>) { self.done = done }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.count += data.count
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { self.done.resume(throwing: error) } else { self.done.resume(returning: self.count) }
    }
}
