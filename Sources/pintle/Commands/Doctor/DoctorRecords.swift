// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleSystem

/// Keeps what the proxy did while a program was tried.
final class DoctorRecords: Sendable {
    private let records = Locked<[ExchangeRecord]>([])
    private let changed = Condition()

    /// How long a record may come behind its program's end.
    private static let patience = Duration.milliseconds(500)

    @Sendable func take(_ record: ExchangeRecord) {
        self.changed.locked {
            self.records.withLock { $0.append(record) }
            self.changed.broadcast()
        }
    }

    func clear() { self.records.withLock { $0 = [] } }

    /// Those of one program that has ended. A record comes when its exchange ends, which may be a moment later: it is waited
    /// for, until one is what was hoped for.
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
