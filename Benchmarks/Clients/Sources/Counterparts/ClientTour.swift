// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOHTTP1

private struct Refusal: Error { let status: HTTPResponseStatus }

/// Does everything that the README of async-http-client shows, with that library.
func tour(at base: String, to file: String) async throws {
    let client = HTTPClient.shared

    let page = try await client.execute(HTTPClientRequest(url: "\(base)/page"), timeout: .seconds(30))
    guard page.status == .ok else { throw Refusal(status: page.status) }
    print(page.status.code, String(buffer: try await page.body.collect(upTo: 1 << 20)))

    var note = HTTPClientRequest(url: "\(base)/notes")
    note.method = .POST
    note.headers.add(name: "User-Agent", value: "Tour/1.0")
    note.body = .bytes(ByteBuffer(string: "some data"))
    let noted = try await client.execute(note, timeout: .seconds(30))
    guard noted.status == .created else { throw Refusal(status: noted.status) }

    let response = try await client.execute(HTTPClientRequest(url: "\(base)/large"), timeout: .seconds(60))
    var count = 0
    for try await piece in response.body {
        count += piece.readableBytes
    }
    print("received \(count) of \(response.headers.first(name: "Content-Length") ?? "?") bytes")

    let delegate = try FileDownloadDelegate(path: file)
    let saved = try await client.execute(request: .init(url: "\(base)/large"), delegate: delegate).get()
    guard saved.head.status == .ok else { throw Refusal(status: saved.head.status) }
    print("saved \(file)")
}
