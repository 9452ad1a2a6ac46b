// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOFoundationCompat
import NIOHTTP1

/// A page of a list: files, and the address of the next page.
private struct Page: Decodable, Sendable {
    let files: [String]
    let next: String?
}

private struct Refusal: Error { let status: HTTPResponseStatus }

/// Downloads every file of a list, page by page, four at a time. Each is downloaded from its beginning: the client cannot
/// resume downloads.
func downloadAll(from base: String, into folder: String) async throws {
    let client = HTTPClient.shared
    var next: String? = "files?page=1"
    var count = 0
    while let url = next {
        let response = try await client.execute(HTTPClientRequest(url: "\(base)/\(url)"), timeout: .seconds(60))
        guard response.status == .ok else { throw Refusal(status: response.status) }
        let page = try await JSONDecoder().decode(Page.self, from: response.body.collect(upTo: 1 << 20))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, file) in page.files.enumerated() {
                if index >= 4 { try await group.next() }
                group.addTask {
                    let request = try HTTPClient.Request(url: "\(base)/\(file)")
                    let saving = try FileDownloadDelegate(path: "\(folder)/\(file.replacing("/", with: "_"))")
                    let saved = try await client.execute(request: request, delegate: saving).get()
                    guard saved.head.status == .ok else { throw Refusal(status: saved.head.status) }
                }
            }
            try await group.waitForAll()
        }
        count += page.files.count
        next = page.next
    }
    print("\(count) files")
}
