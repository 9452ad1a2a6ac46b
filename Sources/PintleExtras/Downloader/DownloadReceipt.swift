// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleSession

/// Identifies one call of ``Downloader/download(_:id:completion:)``, and cancels it with ``Downloader/cancel(_:)``.
public struct DownloadReceipt: Sendable, Identifiable {
    /// The identifier that the caller passed, or a new one. It need not be unique: equality does not depend on it.
    public let id: UUID
    /// The task of the transfer, for its progress. All calls that wait for the same value share it, so cancelling the
    /// task cancels them all.
    public let task: SessionTask
    let place: DownloadPlace
}

extension DownloadReceipt: Hashable {
    /// True for receipts of the same call.
    public static func == (left: DownloadReceipt, right: DownloadReceipt) -> Bool {
        left.task === right.task && left.place == right.place
    }

    /// Hashes the properties that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self.task))
        hasher.combine(self.place)
    }
}
