// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import pintle

/// The connections in the report, out of those that the kernel has reported.
struct ConnectLogTests {
    private static func endpoint(_ address: String, _ port: UInt16) throws -> SocketTable.Endpoint {
        SocketTable.Endpoint(address: try #require(IPAddress(address)), port: port)
    }

    private static func log(_ sightings: [(UInt64, UInt32, Sighting.Kind)]) throws -> ConnectLog {
        var log = ConnectLog(proxy: try Self.endpoint("127.0.0.1", 3128))
        log.add(sightings.map { Sighting(time: $0.0, process: $0.1, kind: $0.2) })
        return log
    }

    @Test func `LOOK-117 programs have the names that they had when they connected`() throws {
        let origin = try Self.endpoint("192.0.2.1", 443)
        let other = try Self.endpoint("2001:db8::1", 80)
        // Events of the rings of two processors, in order within each.
        let log = try Self.log([
            (1, 10, .name("make")), (2, 11, .fork(parent: 10)), (6, 11, .connect(other)), (7, 11, .exit),
            (3, 11, .connect(origin)), (4, 11, .name("node")), (5, 11, .connect(origin)), (8, 11, .connect(origin)),
        ])
        let result = log.result
        #expect(
            result.found.map { "\($0.remote) \($0.program)" } == [
                "192.0.2.1:443 ?", "192.0.2.1:443 make", "192.0.2.1:443 node", "[2001:db8::1]:80 node",
            ])
        #expect(result.more == 0 && log.isWhole)
    }

    @Test func `LOOK-117 the proxy and the command's own servers are not past the proxy`() throws {
        let log = try Self.log([
            (1, 1, .connect(try Self.endpoint("127.0.0.1", 3128))),
            // A client that waits for a server tries to connect before it listens, and to both addresses of localhost.
            (2, 1, .connect(try Self.endpoint("127.0.0.1", 8080))), (3, 1, .connect(try Self.endpoint("::1", 8080))),
            (4, 1, .connect(try Self.endpoint("10.0.0.2", 9090))),
            (5, 1, .connect(try Self.endpoint("10.0.0.3", 9090))),
            (6, 2, .listen(try Self.endpoint("0.0.0.0", 8080))), (7, 2, .listen(try Self.endpoint("10.0.0.2", 9090))),
        ])
        #expect(log.result.found.map(\.remote) == ["10.0.0.3:9090"])
    }

    @Test func `LOOK-117 what is lost is told, and what is too much is counted`() throws {
        #expect(try !Self.log([(1, 1, .loss)]).isWhole)
        let many = try (1...5000).map { number in
            (UInt64(number), UInt32(1), Sighting.Kind.connect(try Self.endpoint("192.0.2.1", UInt16(number))))
        }
        let log = try Self.log(many)
        let result = log.result
        #expect(result.found.count == ConnectLog.most && result.more == 5000 - ConnectLog.most && log.isWhole)
    }

    @Test(arguments: [
        (PastConnections.Sight.all, nil), (.sampled, "were looked for from time to time"),
        (.lossy, "there were more connections than could be noted"), (.none, "were not looked for"),
    ])
    func `LOOK-117 the summary and every report say what could not be seen`(
        sight: PastConnections.Sight, words: String?
    ) throws {
        var report = RunSample.report()
        report.past.sight = sight
        let texts =
            [RunSummary(report: report, isColoured: false).text]
            + [RunReportFormat.junit, .sarif, .markdown].map { $0.write(report).lowercased() }
        #expect((report.past.gap == nil) == (words == nil))
        for text in texts { #expect(text.contains(words ?? "looked for") == (words != nil), "\(text)") }
        #expect(RunReportFormat.json.write(report).contains("\"past_proxy_seen\": \"\(sight.rawValue)\""))
    }
}
