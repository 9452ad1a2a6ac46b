// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import Testing

@testable import PintlePolicy

/// The page of time limits agrees with the program.
struct TimeLimitPageTests {
    @Test func `LOOK-74 the page of time limits has every default`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
            .standardized
        let page = try String(contentsOf: root.appendingPathComponent("docs/timeouts.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").prefix(2).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let limits = LimitsConfiguration()
        func seconds(_ amount: TimeAmount) -> Duration { .nanoseconds(amount.nanoseconds) }
        let expected: [(String, Duration)] = [
            ("limits.header_timeout", limits.headerTimeout), ("limits.idle_timeout", limits.idleTimeout),
            ("limits.body_timeout", limits.bodyTimeout), ("limits.tunnel_idle_timeout", limits.tunnelIdleTimeout),
            ("limits.drain_timeout", limits.drainTimeout), ("request.connect_timeout", RequestRules().connectTimeout),
            ("request.timeout", seconds(Silence.beforeAnswer)), ("request.timeout", seconds(Silence.withinAnswer)),
            ("request.timeout", seconds(Silence.ofStream)), ("interception", seconds(Silence.inTunnel)),
        ]
        for (key, duration) in expected {
            let isThere = rows.contains { $0[0] == "`\(key)`" && Self.duration($0[1]) == duration }
            #expect(isThere, "\(key) \(duration)")
        }
        #expect(RequestRules().timeout == nil)
    }

    private static func duration(_ text: String) -> Duration? {
        if text.hasSuffix("ms"), let number = Int(text.dropLast(2)) { return .milliseconds(number) }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()) else { return nil }
        return .seconds(number * unit)
    }
}
