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

    /// What the body of `head`, the answer to a GET of `url`, leaves in `file` if it ends early.
    ///
    /// - Returns: nil where `head` does not begin a whole, or has no validator.
    init?(of url: String, file: String, from head: ResponseHead, length: UInt64?) {
        guard head.status == 200, let validator = RangeValidator.value(for: head.fields) else { return nil }
        self.url = url
        self.file = file
        self.offset = 0
        self.validator = validator
        self.length = length
    }

    static func sidecar(of path: String) -> String { "\(path).json" }

    /// Reads what is kept beside `file`; nil where nothing is, or nothing that can be understood: the download then
    /// begins at zero.
    static func read(beside file: String) -> PartialDownload? {
        guard let text = FileManager.default.contents(atPath: Self.sidecar(of: file)),
            let part = try? JSONDecoder().decode(PartialDownload.self, from: text), part.file == file,
            // It becomes the value of a field, and others may have written here.
            FieldSyntax.isValue(part.validator)
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

    /// The bytes that are missing, where `head`, an answer to a request for them, begins to send them; nil where it
    /// sends something else.
    func rest(from head: ResponseHead) -> Range<UInt64>? {
        head.rest(from: self.offset, validator: self.validator, length: self.length)
    }
}

extension ResponseHead {
    /// The bytes from `offset` to the end of what has that validator, where this, an answer to a request for them,
    /// begins to send them; nil where it sends something else.
    ///
    /// - Parameter length: of the whole; nil where it is unknown.
    func rest(from offset: UInt64, validator: String, length: UInt64?) -> Range<UInt64>? {
        guard self.status == 206, let text = self.fields["Content-Range"],
            case .bytes(let range, let total) = ContentRange(text), range.lowerBound == offset
        else { return nil }
        if let length, let total, length != total { return nil }
        // A server that ignores If-Range is caught by its own validator.
        if let own = RangeValidator.value(for: self.fields), own != validator { return nil }
        let end = total ?? length ?? range.upperBound
        return range.upperBound <= end ? range.lowerBound..<end : nil
    }
}

extension SessionError {
    /// What is wrong where `peer` was to send the rest up to `end`, and there are `count` bytes; nil where nothing is.
    ///
    /// A server may send less than the rest (RFC 9110 §15.3.7), and its message is complete all the same.
    static func wrongRest(of peer: Authority, upTo end: UInt64, _ count: UInt64) -> SessionError? {
        if count == end { return nil }
        if count < end {
            return SessionError(.truncated, "\(peer) has sent \(count) bytes of \(end); ask again to go on")
        }
        return SessionError(.malformedResponse, "\(peer) has sent more than the \(end) bytes that it announced")
    }
}
