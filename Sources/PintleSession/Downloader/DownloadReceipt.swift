// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Stands for one call of ``Downloader/download(_:id:completion:)``, and cancels it: ``Downloader/cancel(_:)``.
public struct DownloadReceipt: Sendable, Identifiable {
    /// The identifier that the caller has given, or a new one. It need not be unique: receipts are told apart by
    /// themselves.
    public let id: UUID
    /// The task behind it, which all have in common who wait for the same value: for its progress. Cancelling the
    /// task cancels all of them.
    public let task: SessionTask
    let place: DownloadPlace
}

extension DownloadReceipt: Hashable {
    /// True for receipts of the same call.
    public static func == (left: DownloadReceipt, right: DownloadReceipt) -> Bool {
        left.task === right.task && left.place == right.place
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self.task))
        hasher.combine(self.place)
    }
}
