// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
internal import PintleSystem

/// The place of a download when it is complete.
public struct DownloadDestination: Sendable {
    /// Chooses the place of a download that is complete in `temporaryFile`; nil leaves it there.
    public typealias Choice =
        @Sendable (_ temporaryFile: String, _ response: ResponseHead) async throws -> String?

    enum Place: Sendable {
        case file(String)
        case chosen(Choice)
    }

    let place: Place
    /// True if an existing file is replaced. If false, an existing file is an error.
    public let replacesExisting: Bool
    /// True if the download continues an earlier one, of the same URL to the same file, that ended early. A cancelled
    /// download then leaves its part for the next one.
    public let resumes: Bool

    /// A file with this path. The download grows beside it, as `PATH.part`, and replaces it in one step.
    public static func file(
        _ path: String, replacingExisting: Bool = true, resuming: Bool = true
    ) -> DownloadDestination {
        DownloadDestination(place: .file(path), replacesExisting: replacingExisting, resumes: resuming)
    }

    /// A file whose name depends on the response. The download grows in the session's temporary folder.
    ///
    /// An error that `choice` throws fails the task, as `underlying` of a `hookFailed`.
    public static func choosing(replacingExisting: Bool = true, _ choice: @escaping Choice) -> DownloadDestination {
        DownloadDestination(place: .chosen(choice), replacesExisting: replacingExisting, resumes: false)
    }

    /// A new file in the session's temporary folder, which the caller must remove.
    public static let temporary = DownloadDestination(
        place: .chosen { _, _ in nil }, replacesExisting: true, resumes: false)

    /// Returns the place in which the download grows.
    func partPath(in temporaryFolder: String) -> PartPlace {
        switch self.place {
        case .file(let path): return PartPlace(path: CompanionFile.part.path(beside: path), kind: .beside)
        case .chosen:
            let name = String(UInt64.random(in: .min ... .max), radix: 36)
            let path = CompanionFile.part.path(beside: "\(temporaryFolder)/pintle-\(name)")
            return PartPlace(path: path, kind: .temporary)
        }
    }
}
