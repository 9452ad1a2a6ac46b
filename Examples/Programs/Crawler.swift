// SPDX-License-Identifier: Apache-2.0

import Pintle

/// Follows the links of a site, with at most 200 requests at once, and prints its findings.
func crawl(from base: String) async throws {
    var configuration = SessionConfiguration()
    configuration.connectionsPerHost = 200
    let site = try HTTPSession(base: base, configuration: configuration)
    var (known, waiting, broken) = (Set(["/"]), ["/"], 0)
    try await withThrowingTaskGroup(of: [String]?.self) { group in
        var running = 0
        while running > 0 || !waiting.isEmpty {
            while running < 200, let path = waiting.popLast() {
                group.addTask { try? await links(in: site.get(path).text) }
                running += 1
            }
            guard let links = try await group.next() else { break }
            running -= 1
            if links == nil { broken += 1 }
            for link in links ?? [] where known.insert(link).inserted { waiting.append(link) }
        }
    }
    print("\(known.count) pages, \(broken) broken")
}

/// The links of a page that stay on the site.
private func links(in page: String) -> [String] {
    page.matches(of: /href="(\/[^"]*)"/).map { String($0.output.1) }
}
