// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

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
    private struct Refusal: Error { let status: HTTPResponseStatus }

    let base: String
    let token: String

    func repositories(of user: String, page: Int = 1) async throws -> [Repository] {
        try await self.decode(self.send(.GET, "users/\(user)/repos?page=\(page)"))
    }

    func file(_ issue: Issue, in repository: String) async throws -> Issue {
        try await self.decode(self.send(.POST, "repos/\(repository)/issues", JSONEncoder().encode(issue)))
    }

    func star(_ repository: String) async throws { _ = try await self.send(.PUT, "user/starred/\(repository)") }

    private func decode<Answer: Decodable>(_ answer: ByteBuffer) throws -> Answer {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: answer)
    }

    private func send(
        _ method: HTTPMethod, _ path: String, _ json: Data? = nil, attempt: Int = 0
    ) async throws -> ByteBuffer {
        var request = HTTPClientRequest(url: "\(self.base)/\(path)")
        request.method = method
        request.headers = ["Accept": "application/vnd.github+json", "Authorization": "Bearer \(self.token)"]
        if let json {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(json)
        }
        let isLast = attempt == 2 || method == .POST
        var pause = Double.random(in: 0...0.5) * pow(2, Double(attempt))
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            if 200..<300 ~= response.status.code { return try await response.body.collect(upTo: 1 << 20) }
            guard [408, 429, 500, 502, 503, 504].contains(response.status.code), !isLast else {
                throw Refusal(status: response.status)
            }
            pause = response.headers.first(name: "Retry-After").flatMap(Double.init) ?? pause
        } catch let error where !isLast && !(error is Refusal) {}
        try await Task.sleep(for: .seconds(pause))
        return try await self.send(method, path, json, attempt: attempt + 1)
    }
}

/// Lists a user's repositories, stars the first and files an issue in it.
func useGitHub(at base: String, token: String, user: String) async throws {
    let github = GitHub(base: base, token: token)
    let repositories = try await github.repositories(of: user)
    for repository in repositories { print("\(repository.name): \(repository.stargazersCount)") }
    guard let first = repositories.first else { return }
    try await github.star("\(user)/\(first.name)")
    let issue = try await github.file(.init(title: "It squeaks"), in: "\(user)/\(first.name)")
    print("filed as \(issue.number ?? 0)")
}
