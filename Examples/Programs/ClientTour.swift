// SPDX-License-Identifier: Apache-2.0

import Pintle

/// Does everything that the README of async-http-client shows: a request, a body, a time limit, a streamed response, and a
/// file.
func tour(at base: String, to file: String) async throws {
    let client = try HTTPSession(base: base)

    let page = try await client.get("page") { $0.timeout = .seconds(30) }
    print(page.head.status, page.text)

    try await client.post("notes", body: .text("some data")) {
        $0.fields.set("User-Agent", "Tour/1.0")
    }

    let response = try await client.stream("large")
    var count = 0
    for try await piece in response.body {
        count += piece.readableBytes
    }
    print("received \(count) of \(response.length.map(String.init) ?? "?") bytes")

    try await client.download("large", to: .file(file))
    print("saved \(file)")
}
