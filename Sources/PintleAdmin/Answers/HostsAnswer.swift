// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleProxy
internal import PintleSerialization

/// The destinations of the kept exchanges, those with most bytes first.
struct HostsAnswer {
    private struct Sums {
        var exchanges = 0
        var failed = 0
        var bytesIn = 0
        var bytesOut = 0
    }

    private static let most = 200

    let text: [UInt8]

    init(_ recent: RecentExchanges) {
        var hosts: [String: Sums] = [:]
        var numbers = recent.numbers
        while !numbers.isEmpty {
            let slice = numbers.prefix(RecentExchanges.mostAtOnce)
            for kept in recent.numbers(slice.startIndex..<slice.endIndex) {
                let exchange = kept.exchange
                let record = exchange.record
                guard let host = record.host else { continue }
                var sums = hosts[host] ?? Sums()
                sums.exchanges += 1
                if !record.hasPassed || !exchange.isComplete { sums.failed += 1 }
                sums.bytesIn += record.bytesIn ?? 0
                sums.bytesOut += record.bytesOut ?? 0
                hosts[host] = sums
            }
            numbers = slice.endIndex..<numbers.upperBound
        }
        let sorted = hosts.sorted {
            ($0.value.bytesIn + $0.value.bytesOut, $1.key) > ($1.value.bytesIn + $1.value.bytesOut, $0.key)
        }
        self.text = JSONText.value(
            .object([
                (
                    "hosts",
                    .array(
                        sorted.prefix(Self.most).map { host, sums in
                            .object([
                                ("host", .string(host)), ("exchanges", .integer(Int64(sums.exchanges))),
                                ("failed", .integer(Int64(sums.failed))), ("bytes_in", .integer(Int64(sums.bytesIn))),
                                ("bytes_out", .integer(Int64(sums.bytesOut))),
                            ])
                        })
                )
            ]))
    }
}
