// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleSystem

/// Collects the proxy's exchange records while a program is tried.
final class DoctorRecords: Sendable {
    private let records = Locked<[ExchangeRecord]>([])
    private let changed = Condition()

    /// The time for which a record may arrive after its program's end.
    private static let patience = Duration.milliseconds(500)

    @Sendable func take(_ record: ExchangeRecord) {
        self.changed.locked {
            self.records.withLock { $0.append(record) }
            self.changed.broadcast()
        }
    }

    func clear() { self.records.withLock { $0 = [] } }

    /// Returns the records of a program that has ended. A record is written at the end of its exchange, which may be a
    /// moment later, so this waits until `isEnough` accepts a record, or the time is up.
    func all(until isEnough: @escaping @Sendable (ExchangeRecord) -> Bool) async -> [ExchangeRecord] {
        await ThreadPool.shared.result {
            let end = Condition.Deadline(in: Self.patience)
            return self.changed.locked {
                while !self.records.withLock({ $0.contains(where: isEnough) }), self.changed.wait(until: end) {}
                return self.records.withLock { $0 }
            }
        }
    }
}
