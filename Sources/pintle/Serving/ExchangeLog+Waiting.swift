// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleActivity
internal import PintleSystem

extension ExchangeLog {
    /// Waits like `flush(within:)`, but blocks none of the few threads that Swift's tasks share.
    @discardableResult
    func isWritten(within limit: Duration) async -> Bool {
        await ThreadPool.shared.result { self.flush(within: limit) }
    }
}

extension Logger {
    /// Logs the number of exchanges that are missing from their log, if any.
    func log(lossesOf exchangeLog: ExchangeLog) {
        let (dropped, unwritten) = (exchangeLog.dropped, exchangeLog.failures)
        guard dropped + unwritten > 0 else { return }
        self.log(.warning, .exchangeLogIncomplete(dropped: dropped, unwritten: unwritten))
    }
}
