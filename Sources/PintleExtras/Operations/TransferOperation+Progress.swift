// SPDX-License-Identifier: Apache-2.0

public import PintleSession

extension TransferOperation {
    /// Reports the operation's progress until it has finished, over all pauses.
    @discardableResult
    public func bindProgress(to reporter: some ProgressReporter) -> ProgressBinding {
        ProgressBinding(self.progressStream, to: reporter) { self.error }
    }
}
