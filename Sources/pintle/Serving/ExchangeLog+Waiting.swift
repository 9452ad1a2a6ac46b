// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Logging
internal import PintleActivity

extension ExchangeLog {
    /// Waits as `flush(within:)` does, and holds none of the few threads that Swift's tasks share meanwhile.
    @discardableResult
    func isWritten(within limit: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { continuation.resume(returning: self.flush(within: limit)) }
        }
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
