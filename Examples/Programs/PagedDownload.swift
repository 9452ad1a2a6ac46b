// SPDX-License-Identifier: Apache-2.0

import Pintle

/// A page of a list: files, and where the next page is.
private struct Page: Decodable, Sendable {
    let files: [String]
    let next: String?
}

/// Downloads every file that a list names, page by page, four at a time; what an earlier run has left is gone on with.
func downloadAll(from base: String, into folder: String) async throws {
    let api = try HTTPSession(base: base)
    var next: String? = "files?page=1"
    var count = 0
    while let url = next {
        let page = try await api.get(url, as: Page.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, file) in page.files.enumerated() {
                if index >= 4 { try await group.next() }
                group.addTask {
                    _ = try await api.download(file, to: .file("\(folder)/\(file.replacing("/", with: "_"))"))
                }
            }
            try await group.waitForAll()
        }
        count += page.files.count
        next = page.next
    }
    print("\(count) files")
}
