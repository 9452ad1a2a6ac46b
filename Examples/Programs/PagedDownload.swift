// SPDX-License-Identifier: Apache-2.0

import Pintle

/// A page of a list: files, and the address of the next page.
private struct Page: Decodable, Sendable {
    let files: [String]
    let next: String?
}

/// Downloads every file of a list, page by page, four at a time; partial files of an earlier run are completed.
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
