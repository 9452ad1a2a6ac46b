// SPDX-License-Identifier: Apache-2.0

/// The lines that `pintle top` shows: the state of the proxy, and a table of its routes.
struct TopTable {
    /// A reading of the counters with the moment at which it was made.
    struct Sample {
        let reading: CounterReading
        let moment: ContinuousClock.Instant
    }

    private static let headings = [
        "ROUTE", "ACTIVE", "REQ/S", "REQUESTS", "FAILED", "CANCELLED", "VIOLATIONS", "HITS", "UP/S", "DOWN/S", "UP",
        "DOWN",
    ]

    let latest: Sample
    /// An earlier sample; without one there are no rates.
    let previous: Sample?

    /// - Parameter room: the columns of the terminal; nil for as many as the lines take.
    func lines(within room: Int?) -> [String] {
        let reading = self.latest.reading
        let state =
            "\(reading.activity.replacing("_", with: " ")), \(Self.count(reading.connections, "connection")), "
            + "\(Self.count(reading.tunnels, "tunnel")), \(Self.bytes(reading.heldBytes)) of bodies held"
            + (reading.questions > 0 ? ", \(Self.count(reading.questions, "open question"))" : "")
        let rows = [Self.headings] + reading.routes.map(self.cells) + [self.cells(reading.overall)]
        let widths = Self.headings.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var shown = Self.headings.indices.filter { self.previous != nil || !Self.rates.contains($0) }
        if let room {
            // The border would cut a number, and what is left of it is another number.
            for column in Self.leastNeeded
            where shown.map({ widths[$0] + Self.gap.count }).reduce(-Self.gap.count, +) > room {
                shown.removeAll { $0 == column }
            }
        }
        return [reading.status, state, ""] + rows.map { Self.line($0, shown, widths) }
    }

    /// The columns that need an earlier sample.
    private static let rates: Set<Int> = [2, 8, 9]
    /// The columns that are left out, one after the other, while a terminal has no room for all.
    private static let leastNeeded = [10, 11, 5, 7, 8, 9, 6, 4, 3, 2, 1]
    private static let gap = "  "

    private func cells(_ row: CounterReading.Row) -> [String] {
        [
            row.name, "\(row.active)", self.rate(row, \.started) { "\($0)" }, "\(row.started)", "\(row.failed)",
            "\(row.cancelled)", "\(row.violations)", "\(row.cacheHits)", self.rate(row, \.bytesUp, Self.bytes),
            self.rate(row, \.bytesDown, Self.bytes), Self.bytes(row.bytesUp), Self.bytes(row.bytesDown),
        ]
    }

    /// The increase of a counter in one second; a route that was not there before has begun at 0.
    private func rate(
        _ row: CounterReading.Row, _ counter: (CounterReading.Row) -> Int, _ spell: (Int) -> String
    ) -> String {
        guard let previous else { return "" }
        let before =
            (previous.reading.routes + [previous.reading.overall]).first { $0.name == row.name }.map(counter) ?? 0
        let elapsed = previous.moment.duration(to: self.latest.moment) / .seconds(1)
        guard elapsed > 0 else { return spell(0) }
        // A proxy of another process may have taken the place of the first.
        return spell(max(0, Int((Double(counter(row) - before) / elapsed).rounded())))
    }

    /// Puts the first column to the left and the others to the right.
    private static func line(_ row: [String], _ shown: [Int], _ widths: [Int]) -> String {
        shown.map { column in
            let blanks = String(repeating: " ", count: widths[column] - row[column].count)
            return column == 0 ? row[column] + blanks : blanks + row[column]
        }.joined(separator: self.gap)
    }

    private static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }

    /// A number of bytes in three digits.
    static func bytes(_ number: Int) -> String {
        let units = ["", "Ki", "Mi", "Gi", "Ti", "Pi"]
        var (value, unit) = (Double(number), 0)
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        if unit == 0 { return "\(number) B" }
        let tenths = Int((value * 10).rounded())
        return (tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(value.rounded()))") + " \(units[unit])B"
    }
}
