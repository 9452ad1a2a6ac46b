// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// One exchange as a line of `pintle top`, short enough that the end of its URL has a chance to be seen.
struct TopRow: Decodable {
    private enum CodingKeys: String, CodingKey {
        case time, method, status, url, decision, violations, error
        case duration = "duration_ms"
    }

    private let time: String
    private let method, url, decision, error: String?
    private let status, duration: Int?
    private let violations: [String]?

    /// - Returns: nil if the line is not one of the log in JSON.
    init?(_ line: String) {
        guard let row = try? JSONDecoder().decode(Self.self, from: Data(line.utf8)) else { return nil }
        self = row
    }

    var text: String {
        // The time of the day, of 2026-01-02T03:04:05.678Z.
        let clock = self.time.dropFirst(11).prefix(8)
        let (status, time) = (self.status.map(String.init) ?? "–", "\(self.duration ?? 0) ms")
        let blanks = String(repeating: " ", count: max(0, 9 - time.count))
        let decision = self.decision.flatMap { $0 == "allow" ? nil : $0 }
        let remarks = [decision, self.violations?.joined(separator: ", "), self.error].compactMap { $0 }
        return "\(clock)  \(status)\(blanks)\(time)  \(self.method ?? "–") \(self.url ?? "–")"
            + (remarks.isEmpty ? "" : "  \(remarks.joined(separator: ": "))")
    }
}
