// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// Follows the links of a site, with at most 200 requests at once, and prints its findings.
func crawl(from base: URL) async throws {
    let configuration = URLSessionConfiguration.default
    configuration.httpMaximumConnectionsPerHost = 200
    let site = URLSession(configuration: configuration)
    var (known, waiting, broken) = (Set(["/"]), ["/"], 0)
    await withTaskGroup(of: [String]?.self) { group in
        var running = 0
        while running > 0 || !waiting.isEmpty {
            while running < 200, let path = waiting.popLast() {
                group.addTask { await links(of: path, on: base, in: site) }
                running += 1
            }
            guard let links = await group.next() else { break }
            running -= 1
            if links == nil { broken += 1 }
            for link in links ?? [] where known.insert(link).inserted { waiting.append(link) }
        }
    }
    print("\(known.count) pages, \(broken) broken")
}

/// The links of a page that stay on the site; nil if there is no such page.
private func links(of path: String, on base: URL, in site: URLSession) async -> [String]? {
    guard let url = URL(string: path, relativeTo: base), let (page, response) = try? await site.data(from: url),
        (response as? HTTPURLResponse)?.statusCode == 200
    else { return nil }
    return String(decoding: page, as: UTF8.self).matches(of: /href="(\/[^"]*)"/).map { String($0.output.1) }
}
