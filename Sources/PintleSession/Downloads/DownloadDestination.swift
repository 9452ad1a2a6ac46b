// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Where a download goes when it is whole.
public struct DownloadDestination: Sendable {
    /// Says where a download goes that is whole in `temporaryFile`; nil leaves it there.
    public typealias Choice =
        @Sendable (_ temporaryFile: String, _ response: ResponseHead) async throws -> String?

    enum Place: Sendable {
        case file(String)
        case chosen(Choice)
    }

    let place: Place
    /// Whether a file that is in the place already is replaced. Without it, it is an error.
    public let replacesExisting: Bool
    /// Whether the download goes on where an earlier one to the same file, of the same URL, ended early; a cancelled
    /// one then leaves what it has for the next.
    public let resumes: Bool

    /// A file of this name. The download grows beside it, as `NAME.part`, and takes its place in one step.
    public static func file(
        _ path: String, replacingExisting: Bool = true, resuming: Bool = true
    ) -> DownloadDestination {
        DownloadDestination(place: .file(path), replacesExisting: replacingExisting, resumes: resuming)
    }

    /// A file whose name depends on the response. The download grows in the session's temporary folder.
    ///
    /// What `choice` throws fails the task, as `underlying` of a `hookFailed`.
    public static func choosing(replacingExisting: Bool = true, _ choice: @escaping Choice) -> DownloadDestination {
        DownloadDestination(place: .chosen(choice), replacesExisting: replacingExisting, resumes: false)
    }

    /// The session's temporary folder; who gets the result removes it.
    public static let temporary = DownloadDestination(
        place: .chosen { _, _ in nil }, replacesExisting: true, resumes: false)

    /// Where the download grows.
    func partPath(in temporaryFolder: String) -> PartPlace {
        switch self.place {
        case .file(let path): return PartPlace(path: "\(path).part", kind: .beside)
        case .chosen:
            let name = String(UInt64.random(in: .min ... .max), radix: 36)
            return PartPlace(path: "\(temporaryFolder)/pintle-\(name).part", kind: .temporary)
        }
    }
}
