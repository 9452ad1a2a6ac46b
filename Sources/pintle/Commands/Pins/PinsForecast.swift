// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import PintlePins
internal import PintlePolicy
internal import PintleTrust

struct PinsForecast: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forecast",
        abstract: "Tell for each policy the first date on which no pin is sure to match, without network.",
        discussion: """
            A pin is sure to match as long as a certificate with its key is valid that the configuration names, or that an \
            audit has seen. Of a pin without a certificate nothing is known, and it has no date.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @OptionGroup var configuration: ConfigurationOptions
    @OptionGroup var audited: AuditedKeys

    @Option(help: "How it is written.")
    var format = Format.text

    func run() async throws {
        let (policy, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        let seen = try self.audited.seen(of: origin).values.flatMap(\.certificates)
        let forecast = PinForecast(policy, now: .now, seen: seen)
        switch self.format {
        case .json: try Output.json(forecast.entries.map { Line(entry: $0, file: origin.path) })
        case .text: try Self.write(forecast.entries)
        }
    }

    private static func write(_ entries: [PinForecast.Entry]) throws(CommandFailure) {
        guard !entries.isEmpty else { return Output.error("pintle pins forecast: no policy pins anything") }
        let rows = [["DATE", "POLICY", "HOST"]] + entries.map { [$0.date?.day ?? "unknown", $0.policy, $0.host] }
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        for (row, reason) in zip(rows, ["WHY"] + entries.map(\.reason)) {
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            try Output.prose("\(cells.joined(separator: "  "))  \(reason.plainLine)")
        }
    }

    /// An entry of the JSON output; unknown values are null.
    private struct Line: Encodable {
        let entry: PinForecast.Entry
        let file: String?

        private enum Key: String, CodingKey {
            case policy, host, file, line, column, date, reason, pins, pin, certificate, until
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(self.entry.policy, forKey: .policy)
            try container.encode(self.entry.host, forKey: .host)
            try container.encode(self.file, forKey: .file)
            try container.encode(self.entry.position.line, forKey: .line)
            try container.encode(self.entry.position.column, forKey: .column)
            try container.encode(self.entry.date.map { "\($0)" }, forKey: .date)
            try container.encode(self.entry.reason, forKey: .reason)
            var pins = container.nestedUnkeyedContainer(forKey: .pins)
            for known in self.entry.pins {
                var pin = pins.nestedContainer(keyedBy: Key.self)
                try pin.encode("\(known.pin)", forKey: .pin)
                try pin.encode(known.subject, forKey: .certificate)
                try pin.encode(known.until.map { "\($0)" }, forKey: .until)
            }
        }
    }
}

extension Output {
    /// Writes a value as JSON with sorted keys.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Escaped like all data. JSON permits the escapes in strings, and has such characters only there.
        try Self.data(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

extension String {
    /// The text on one line for a terminal; names in it may come from certificates.
    var plainLine: String { self.unicodeScalars.count > 200 ? self.cleaned : self.plain }

    private var cleaned: String {
        var rest = self.unicodeScalars[...]
        var text = ""
        while !rest.isEmpty {
            text += String(String.UnicodeScalarView(rest.prefix(200))).plain
            rest = rest.dropFirst(200)
        }
        return text
    }
}
