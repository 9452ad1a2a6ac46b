// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// A receiver of spans by OTLP over HTTP, which answers as its script says.
final class SpanReceiver: Sendable {
    /// One span, with the values of its attributes as text.
    struct Span: Sendable {
        let traceID: String
        let id: String
        let parent: String?
        let state: String?
        let kind: Int
        let start: Int
        let end: Int
        let attributes: [String: String]

        subscript(_ key: String) -> String? { self.attributes[key] }
    }

    let server: RawOrigin

    /// - Parameter script: makes the answer to a post from its number, counted from zero.
    init(_ script: @escaping @Sendable (Int) throws -> String = { _ in answer(200, [], "{}") }) throws {
        let count = Watched(0)
        self.server = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let number = count.change { count in
                    count += 1
                    return count - 1
                }
                try connection.send(script(number))
            }
        }
    }

    /// The section of a configuration that has spans posted here.
    func section(_ more: String = "") -> String {
        "tracing: {otlp: \"http://127.0.0.1:\(self.server.port)\"\(more.isEmpty ? "" : ", \(more)")}\n"
    }

    var posts: [Message] { self.server.requests }
    var text: String { self.posts.map(\.text).joined(separator: "\n") }

    /// The spans of a post.
    static func spans(of post: Message) throws -> [Span] {
        let document = try #require(try JSONSerialization.jsonObject(with: Data(post.body)) as? [String: Any])
        let resources = try #require(document["resourceSpans"] as? [[String: Any]])
        let scopes = try resources.flatMap { try #require($0["scopeSpans"] as? [[String: Any]]) }
        return try scopes.flatMap { try #require($0["spans"] as? [[String: Any]]) }.map { try Span($0) }
    }

    /// The spans of all posts.
    func spans() throws -> [Span] { try self.posts.flatMap { try Self.spans(of: $0) } }
}

extension SpanReceiver.Span {
    fileprivate init(_ object: [String: Any]) throws {
        self.traceID = try #require(object["traceId"] as? String)
        self.id = try #require(object["spanId"] as? String)
        self.parent = object["parentSpanId"] as? String
        self.state = object["traceState"] as? String
        self.kind = try #require(object["kind"] as? Int)
        self.start = try #require((object["startTimeUnixNano"] as? String).flatMap { Int($0) })
        self.end = try #require((object["endTimeUnixNano"] as? String).flatMap { Int($0) })
        let attributes = try #require(object["attributes"] as? [[String: Any]])
        self.attributes = try Dictionary(
            attributes.map { attribute in
                let value = try #require(attribute["value"] as? [String: Any]).values.first as? String
                return (try #require(attribute["key"] as? String), value ?? "")
            }
        ) { first, _ in first }
    }
}
