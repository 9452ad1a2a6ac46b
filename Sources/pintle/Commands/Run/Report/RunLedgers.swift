// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAttestation
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleSystem
internal import PintleTrust

/// The exchanges of signed reports. Another thread writes them down, in the order in which they end.
struct RunLedgers: Sendable {
    /// The most keys of a chain; a peer may send hundreds of certificates.
    private static let longestChain = 16

    private let sink: DeferredSink<[ExchangeLedger?]>
    /// Nil if no report is signed, so that nothing is digested for one.
    let neededSink: (any ExchangeSink)?

    /// - Parameter reports: all reports, also those that are not signed.
    init(_ reports: [RunReportFile], redaction: Redaction) throws(CommandFailure) {
        var ledgers: [ExchangeLedger?] = []
        for file in reports {
            do throws(AttestationError) {
                ledgers.append(file.format == .intoto ? try ExchangeLedger(for: file.path) : nil)
            } catch {
                throw CommandFailure(.usage, "pintle run: --report \(file.path): \(error)")
            }
        }
        let filters = reports.map { $0.format == .intoto ? $0.filter : nil }
        let hasFilters = filters.contains { $0 != nil }
        let encoder = ExchangeEncoder(format: .json, redaction: redaction)
        self.sink = DeferredSink(
            ledgers, wants: hasFilters ? [.fields, .processes, .digests] : .digests
        ) { ledgers, exchange in
            let leaf = Self.leaf(exchange, encoder)
            // Made for filters alone, because it takes time.
            let shown =
                hasFilters
                ? ShownExchange(
                    exchange.record, request: exchange.requestFields, response: exchange.responseFields,
                    redaction: redaction) : nil
            for index in ledgers.indices {
                if let filter = filters[index], let shown, !filter.matches(shown) { continue }
                ledgers[index]?.append(leaf)
            }
        }
        self.neededSink = ledgers.contains { $0 != nil } ? self.sink : nil
    }

    /// The ledger of each report, nil for those that are not signed, and the number of exchanges that are missing because they came
    /// too fast.
    func finish() -> (ledgers: [ExchangeLedger?], missed: Int) {
        let (ledgers, missed) = self.sink.finish()
        return (ledgers, missed)
    }

    private static func leaf(_ exchange: ObservedExchange, _ encoder: ExchangeEncoder) -> [UInt8] {
        var line: [UInt8] = []
        encoder.encode(exchange.record, into: &line)
        let keys = exchange.verdict?.chain.prefix(Self.longestChain).map(\.spkiPin.description) ?? []
        let body = exchange.digest.map { digest in
            Parameter.object([
                ("sha256", digest.sha256.map { .string($0.hexadecimal) }),
                ("gap", digest.sha256 == nil ? "it was not sent whole" : nil),
                ("coding", digest.codings.isEmpty ? nil : .string(digest.codings.joined(separator: ", "))),
            ])
        }
        // The line ends with a line end.
        return StatedExchange.leaf(log: line.dropLast(), keys: keys, body: body)
    }
}
