// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleProxy
import PintleSerialization
import PintleTesting
import PintleTrust

@testable import pintle

/// Exchanges as a proxy tells a learner of them.
enum LearnSample {
    static func exchange(
        _ url: String, method: String = "GET", status: Int = 200, type: String? = "text/plain", body: String = "x",
        mode: String = "forward", decision: String = "allow", verdict: Verdict? = nil
    ) throws -> ObservedExchange {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let scheme: Scheme = parts[0] == "https:" ? .https : .http
        guard let authority = Authority(parts[2], defaultPort: scheme.defaultPort) else {
            throw TestFailure("\(url) has no host")
        }
        let path = parts.count > 3 ? "/\(parts[3])" : "/"
        var record = ExchangeRecord(time: Timestamp(milliseconds: 1_790_000_000_123), id: "1-1")
        (record.mode, record.method, record.decision, record.url) = (mode, method, decision, url)
        (record.host, record.address) = ("\(authority)", "192.0.2.1:80")
        if decision == "allow" { record.upstreamStatus = status }
        record.bytesOut = body.utf8.count
        let isBodiless = method == "HEAD" || [204, 304].contains(status)
        let isJSON = type.map { MediaType.isJSON(MediaType.essence(of: $0)) } ?? false
        let response = ObservedResponse(
            contentTypes: type.map { [MediaType.essence(of: $0)] } ?? [], isBodiless: isBodiless,
            body: isJSON && !isBodiless ? .kept(ObservedBody(Array(body.utf8))) : .other)
        return ObservedExchange(
            record: record, target: .absolute(scheme: scheme, authority: authority, path: path), isComplete: true,
            verdict: verdict, response: decision == "allow" ? response : nil)
    }

    static func tunnel(_ host: String, mode: String = "tunnel", address: String? = "192.0.2.1:443") throws
        -> ObservedExchange
    {
        guard let authority = Authority(host, defaultPort: 443) else { throw TestFailure("\(host) is no host") }
        var record = ExchangeRecord(time: Timestamp(milliseconds: 1_790_000_000_123), id: "1-1")
        (record.mode, record.method, record.decision, record.address) = (mode, "CONNECT", "allow", address)
        record.host = "\(authority)"
        return ObservedExchange(record: record, target: .authority(authority), isComplete: true)
    }

    /// Learns a configuration from exchanges, and loads it again.
    static func learn(
        _ exchanges: [ObservedExchange], under base: Configuration = Configuration()
    ) throws -> (learnt: LearnedConfiguration, policy: Policy, folder: TemporaryFolder) {
        var traffic = LearnedTraffic()
        for exchange in exchanges { traffic.note(exchange) }
        let folder = try TemporaryFolder()
        let learnt = LearnedConfiguration(
            traffic,
            from: LearnedConfiguration.Origin(
                version: "0.1.0", program: "npm\u{1B}[2J\nx: y", moment: "2026-01-01T00:00:00.000Z", base: "pintle.yaml"
            ),
            under: base, schemaFolder: "learnt.schemas", place: LearnedPath(from: folder.path))
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/learnt.schemas", withIntermediateDirectories: true)
        for schema in learnt.schemas { try folder.write(schema.text, to: "learnt.schemas/\(schema.name)") }
        let path = try folder.write(learnt.text, to: "learnt.yaml")
        let policy = try PolicyLoader.load(flag: path, surroundings: .system(environment: [:])).policy
        return (learnt, policy, folder)
    }
}

extension Policy {
    /// The name of the route that an exchange is one of.
    func route(of exchange: ObservedExchange) throws -> String? {
        guard case .absolute(let scheme, let authority, let path) = exchange.target else { return nil }
        let head = RequestHead(
            method: exchange.record.method ?? "",
            target: .absolute(scheme: scheme, authority: authority, path: path), fields: ["Host": "\(authority)"])
        return RequestPlan(head, .none, by: self).decision?.route?.name
    }
}
