// SPDX-License-Identifier: Apache-2.0

import Foundation
import Pintle

/// A client for the API of a code host: users, repositories and issues, with a token.
struct GitHub: Sendable {
    struct Repository: Decodable, Sendable {
        let name: String
        let stargazersCount: Int
    }
    struct Issue: Codable, Sendable {
        var number: Int?
        var title: String
    }

    private let api: HTTPSession

    init(base: String, token: String) throws {
        var api = try HTTPSession(base: base)
        api.requestSerializer = try HTTPRequestSerializer(
            defaultFields: ["Accept": "application/vnd.github+json", "Authorization": "Bearer \(token)"])
        api.makeDecoder = {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }
        api.interceptors = [.retry()]
        self.api = api
    }

    func repositories(of user: String, page: Int = 1) async throws -> [Repository] {
        try await self.api.get(
            "users/\(user)/repos", parameters: ["page": .integer(Int64(page))], as: [Repository].self)
    }

    func file(_ issue: Issue, in repository: String) async throws -> Issue {
        try await self.api.post("repos/\(repository)/issues", json: issue, as: Issue.self)
    }

    func star(_ repository: String) async throws { try await self.api.put("user/starred/\(repository)") }
}

/// Lists a user's repositories, stars the first and files an issue in it.
func useGitHub(at base: String, token: String, user: String) async throws {
    let github = try GitHub(base: base, token: token)
    let repositories = try await github.repositories(of: user)
    for repository in repositories { print("\(repository.name): \(repository.stargazersCount)") }
    guard let first = repositories.first else { return }
    try await github.star("\(user)/\(first.name)")
    let issue = try await github.file(.init(title: "It squeaks"), in: "\(user)/\(first.name)")
    print("filed as \(issue.number ?? 0)")
}
