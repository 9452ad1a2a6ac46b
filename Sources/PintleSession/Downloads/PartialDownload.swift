// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PintleMessage

/// What a download that ended early has left: bytes in a file, and by what to notice that they have become worthless.
///
/// It is also kept beside the file, as `FILE.json`, so that a program that was killed can go on too.
public struct PartialDownload: Sendable, Hashable, Codable {
    /// The URL that was asked for, before redirects.
    public let url: String
    /// The path of the file with the bytes.
    public let file: String
    /// How many bytes of the file count. There may be more in it, of which nobody knows whether they reached the disk.
    public internal(set) var offset: UInt64
    /// The strong entity tag or the date that the server is asked to compare (If-Range, RFC 9110 §13.1.5).
    public let validator: String
    /// The length of the whole; nil where the server did not say.
    public let length: UInt64?

    static func sidecar(of path: String) -> String { "\(path).json" }

    /// Reads what is kept beside `file`; nil where nothing is, or nothing that can be understood: the download then
    /// begins at zero.
    static func read(beside file: String) -> PartialDownload? {
        guard let text = FileManager.default.contents(atPath: Self.sidecar(of: file)),
            let part = try? JSONDecoder().decode(PartialDownload.self, from: text), part.file == file
        else { return nil }
        return part
    }

    /// Writes it beside its file, in one step.
    func write() throws(SessionError) {
        let path = Self.sidecar(of: self.file)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw SessionError(.cannotWrite, "\(path) cannot be written", cause: String(describing: error))
        }
    }

    /// Whether `head`, an answer to a request for the rest, continues these bytes.
    func isContinued(by head: ResponseHead) -> Bool {
        head.continues(at: self.offset, validator: self.validator, length: self.length)
    }
}

extension ResponseHead {
    /// Whether this, an answer to a request for the rest, has the bytes from `offset` on of what has that validator.
    ///
    /// - Parameter length: of the whole; nil where it is unknown.
    func continues(at offset: UInt64, validator: String, length: UInt64?) -> Bool {
        guard self.status == 206, let text = self.fields["Content-Range"],
            case .bytes(let range, let total) = ContentRange(text), range.lowerBound == offset
        else { return false }
        if let length, let total, length != total { return false }
        // A server that ignores If-Range is caught by its own validator.
        guard let own = RangeValidator.value(for: self.fields) else { return true }
        return own == validator
    }
}
