// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleActivity
internal import PintleSystem

extension ExchangeLog {
    /// Waits as `flush(within:)` does, and holds none of the few threads that Swift's tasks share meanwhile.
    @discardableResult
    func isWritten(within limit: Duration) async -> Bool {
        await ThreadPool.shared.result { self.flush(within: limit) }
    }
}

extension Logger {
    /// Says how many exchanges are missing from their log, where any are.
    func log(lossesOf exchangeLog: ExchangeLog) {
        let (dropped, unwritten) = (exchangeLog.dropped, exchangeLog.failures)
        guard dropped + unwritten > 0 else { return }
        self.warning(
            LogKeys.exchangeLogIncomplete,
            metadata: [
                LogKeys.dropped: .stringConvertible(dropped), LogKeys.unwritten: .stringConvertible(unwritten),
            ])
    }
}
