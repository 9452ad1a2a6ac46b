// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleRehearsal
internal import PintleSerialization
internal import PintleSystem

/// `pintle check --against`: the differences in meaning from another configuration.
struct CheckAgainst {
    let old: TableComparison.Loaded
    let new: TableComparison.Loaded
    let format: Check.Format
    private let surroundings = LoaderEnvironment.system(environment: Inherited.environment)

    init(_ old: TableComparison.Loaded, _ new: TableComparison.Loaded, format: Check.Format) {
        (self.old, self.new, self.format) = (old, new, format)
    }

    /// Compares the tables of rules.
    func compareTables() throws(CommandFailure) {
        let comparison = TableComparison(from: self.old, to: self.new, surroundings: self.surroundings)
        switch self.format {
        case .text: for line in ComparisonText.lines(comparison) { try Output.data(line.plainLine) }
        case .json: try Output.bytes(Array(ComparisonJSON.document(comparison).jsonText.utf8))
        }
        if !comparison.isSame { throw CommandFailure(.found, lines: []) }
    }

    /// Compares the decisions about recorded exchanges.
    ///
    /// - Parameter path: a log or an archive.
    func compareTraffic(_ path: String) throws(CommandFailure) {
        var comparison = TrafficComparison(from: self.old, to: self.new, surroundings: self.surroundings)
        var rows = RowWriter(isOn: self.format == .json)
        let read: TrafficReader.Summary
        do throws(TrafficError) {
            read = try TrafficReader.read(path) { exchange in
                if let row = comparison.add(exchange) { rows.write(row) }
            }
        } catch {
            throw CommandFailure(.incomplete, "pintle check: --traffic: \(error)")
        }
        switch self.format {
        case .text: for line in ComparisonText.lines(comparison) { try Output.data(line.plainLine) }
        case .json: try rows.finish(ComparisonJSON.summary(comparison, read))
        }
        if let fault = read.firstFault {
            Output.error("\(read.faults) malformed in \(path), the first in \(fault)")
        }
        if comparison.otherwise > 0 { throw CommandFailure(.found, lines: []) }
    }

    /// Writes the rows of exchanges as they are found, so that their number does not matter.
    private struct RowWriter {
        private let isOn: Bool
        private var bytes = Array("{\"rows\": [".utf8)
        private var isFirst = true
        private var failure: CommandFailure?

        init(isOn: Bool) { self.isOn = isOn }

        mutating func write(_ row: TrafficComparison.Row) {
            guard self.isOn, self.failure == nil else { return }
            self.bytes += Array((self.isFirst ? "\n" : ",\n").utf8) + Self.line(ComparisonJSON.row(row))
            self.isFirst = false
            if self.bytes.count > 64 << 10 { self.flush() }
        }

        /// Writes the rest, and the members of `summary`.
        mutating func finish(_ summary: Parameter) throws(CommandFailure) {
            self.bytes += Array("\n], \"summary\": ".utf8) + Self.line(summary) + Array("}\n".utf8)
            self.flush()
            if let failure { throw failure }
        }

        private mutating func flush() {
            do throws(CommandFailure) { try Output.bytes(self.bytes) } catch { self.failure = error }
            self.bytes.removeAll(keepingCapacity: true)
        }

        private static func line(_ value: Parameter) -> [UInt8] {
            // Reports have only values that JSON can express.
            let bytes = (try? JSONWriter.write(value)) ?? []
            return Array(String(decoding: bytes, as: UTF8.self).showable(keepingLines: true).utf8)
        }
    }
}
