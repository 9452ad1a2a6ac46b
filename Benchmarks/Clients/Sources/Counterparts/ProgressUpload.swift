// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// Uploads a file and prints its progress in tenths.
func uploadWithProgress(_ file: URL, to url: URL) async throws {
    var request = URLRequest(url: url)
    request.httpMethod = "PUT"
    let (_, response) = try await URLSession.shared.upload(for: request, fromFile: file, delegate: Tenths())
    guard let status = (response as? HTTPURLResponse)?.statusCode, 200..<300 ~= status else {
        throw URLError(.badServerResponse)
    }
    print("status \(status)")
}

// Why @unchecked holds: a session calls its delegate in turn, on one queue.
private final class Tenths: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    // Why @unchecked holds: a session calls its delegate on one queue, which runs one call at a time.
    private var tenths: Int64 = 0

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let sent = totalBytesSent * 10 / totalBytesExpectedToSend
        guard sent > self.tenths else { return }
        self.tenths = sent
        print("\(sent * 10) %")
    }
}
