// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleMessage
import Testing

@testable import PintlePolicy

/// The cases in Tests/Vectors/filters.json, which every reader of the language has to pass.
struct FilterVectors: Decodable {
    /// An exchange by the names of the log.
    struct Exchange: Decodable {
        let id: String
        let user, tag, process, mode, method, url, host, route, rule, decision: String?
        let trust, pin, assurance, cache, source, error: String?
        let pid: Int32?
        let revision: String?
        let status, bytesIn, bytesOut, durationMs: Int?
        let violations: [String]?
        let request, response: [String]
        let requestTexts, responseTexts: [String]?
    }

    struct Match: Decodable, CustomTestStringConvertible {
        let filter: String
        let matches: [String]
        var testDescription: String { self.filter }
    }

    struct Fault: Decodable, CustomTestStringConvertible {
        let filter: String
        let at: Int
        let says: String
        var testDescription: String { self.filter }
    }

    let exchanges: [Exchange]
    let filters: [Match]
    let faults: [Fault]

    static let all: FilterVectors = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Vectors/filters.json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do { return try decoder.decode(FilterVectors.self, from: Data(contentsOf: file)) } catch {
            preconditionFailure("\(file.path) cannot be read: \(error)")
        }
    }()
}

extension FilterVectors.Exchange {
    var shown: ShownExchange {
        get throws {
            var record = ExchangeRecord(time: Timestamp(milliseconds: 0), id: self.id)
            (record.user, record.tag, record.mode) = (self.user, self.tag, self.mode)
            if let process = self.process {
                record.process = ExchangeRecord.Process(name: process, number: try #require(self.pid))
            }
            record.revision = self.revision
            (record.method, record.url) = (self.method, self.url)
            (record.host, record.route, record.rule) = (self.host, self.route, self.rule)
            (record.decision, record.trust, record.pin) = (self.decision, self.trust, self.pin)
            (record.assurance, record.cache, record.error) = (self.assurance, self.cache, self.error)
            record.source = try self.source.map { try #require(ExchangeRecord.Source(rawValue: $0)) }
            (record.status, record.bytesIn, record.bytesOut) = (self.status, self.bytesIn, self.bytesOut)
            record.duration = self.durationMs.map { .milliseconds($0) }
            record.violations = try (self.violations ?? []).map { try #require(ViolationKind(rawValue: $0)) }
            return ShownExchange(
                record, request: Self.fields(self.request), response: Self.fields(self.response),
                bodies: Texts(request: self.requestTexts ?? [], response: self.responseTexts ?? []), redaction: .off)
        }
    }

    /// Bodies, or the messages of a WebSocket if there are several.
    private struct Texts: ShownBodies {
        let messages: [ShownMessage]
        let request: ShownBody?
        let response: ShownBody?

        init(request: [String], response: [String]) {
            func body(_ texts: [String]) -> ShownBody? {
                texts.first.map { ShownBody(bytes: Array($0.utf8), type: nil, size: $0.utf8.count, isWhole: true) }
            }
            func messages(_ texts: [String], fromClient isFromClient: Bool) -> [ShownMessage] {
                texts.map { text in
                    ShownMessage(
                        time: Timestamp(milliseconds: 0), isFromClient: isFromClient, kind: .text,
                        bytes: Array(text.utf8), isWhole: true)
                }
            }
            (self.request, self.response) = (body(request), body(response))
            self.messages =
                messages(request, fromClient: true) + messages(response, fromClient: false)
        }
    }

    private static func fields(_ lines: [String]) -> Fields {
        var fields = Fields()
        for line in lines {
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            fields.append(String(line[..<colon]), String(line[colon...].dropFirst(2)))
        }
        return fields
    }
}
