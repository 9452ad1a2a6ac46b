// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import NIOCore
package import PintleMessage
internal import PintleSystem

/// The part that an incomplete download has left: bytes in a file, and the validator by which the server tells if they
/// are still valid.
///
/// It is also stored beside the file, as `FILE.json`, so that a program that was killed can continue too.
public struct PartialDownload: Sendable, Hashable, Codable {
    /// The URL that was requested, before redirects.
    public let url: String
    /// The path of the file with the bytes.
    public let file: String
    /// The number of valid bytes in the file. Bytes after these may not have reached the disk.
    public internal(set) var offset: UInt64
    /// The strong entity tag or the date that the server compares (If-Range, RFC 9110 §13.1.5).
    public let validator: String
    /// The length of the whole body; nil if the server did not declare it.
    public let length: UInt64?

    /// Makes the note of a body that may end early: that of `head`, the response to a GET of `url`, in `file`.
    ///
    /// - Returns: nil if `head` does not begin a whole body, or has no validator.
    init?(of url: String, file: String, from head: ResponseHead, length: UInt64?) {
        guard head.status == 200, let validator = RangeValidator.value(for: head.fields) else { return nil }
        self.url = url
        self.file = file
        self.offset = 0
        self.validator = validator
        self.length = length
    }

    /// Makes a note that says only that a download has begun to write `file`; no task can continue it.
    init(claiming file: String) {
        (self.url, self.file, self.offset, self.validator, self.length) = ("", file, 0, "", nil)
    }

    static func sidecar(of path: String) -> String { CompanionFile.note.path(beside: path) }

    /// Reads the note beside `file`; nil if there is none, or an unreadable one.
    static func note(beside file: String) -> PartialDownload? {
        guard let text = FileBytes.read(Self.sidecar(of: file), upTo: 1 << 20) else { return nil }
        return try? JSONDecoder().decode(PartialDownload.self, from: Data(text))
    }

    /// True if a download in `file` can be continued with this note; otherwise it begins at zero.
    func isUsable(in file: String) -> Bool {
        // The validator is sent as a field's value, and another program may have written it.
        self.file == file && FieldSyntax.isValue(self.validator)
    }

    /// Writes the note beside its file, in one step. Only this user may read it, as a URL may itself grant access.
    func write() throws(SessionError) {
        let path = Self.sidecar(of: self.file)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text: Data
        do {
            text = try encoder.encode(self)
        } catch {
            throw SessionError(.internalError, "\(path) cannot be put into words", cause: String(describing: error))
        }
        let new = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36))"
        do throws(SessionError) {
            let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .cannotWrite(path, errno) }
            let file = OpenFile(descriptor: descriptor, path: new)
            try DownloadFile.write(ByteBuffer(bytes: text), to: file.descriptor, at: 0, path)
            // Otherwise, if the machine stops, an empty note may remain, with which no download would accept the part.
            guard fdatasync(file.descriptor) == 0, rename(new, path) == 0 else { throw .cannotWrite(path, errno) }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Returns the missing bytes if `head`, the response to a request for them, begins to send them; otherwise nil.
    func rest(from head: ResponseHead) -> Range<UInt64>? {
        head.rest(from: self.offset, validator: self.validator, length: self.length)
    }
}

extension ResponseHead {
    /// Returns the bytes from `offset` to the end of the body with that validator, if this response to a request for
    /// them begins to send them; otherwise nil.
    ///
    /// - Parameter length: the length of the whole body; nil if unknown.
    package func rest(from offset: UInt64, validator: String, length: UInt64?) -> Range<UInt64>? {
        guard self.status == 206, let text = self.fields["Content-Range"],
            case .bytes(let range, let total) = ContentRange(text), range.lowerBound == offset
        else { return nil }
        if let length, let total, length != total { return nil }
        // A server that ignores If-Range is detected by the validator of its response.
        if let own = RangeValidator.value(for: self.fields), own != validator { return nil }
        let end = total ?? length ?? range.upperBound
        return range.upperBound <= end ? range.lowerBound..<end : nil
    }
}

extension SessionError {
    /// Returns the error if `peer` had to send the rest up to `end`, and there are `count` bytes; nil if that is all of
    /// it.
    ///
    /// A server may send less than the rest (RFC 9110 §15.3.7); its message is complete nevertheless.
    package static func wrongRest(of peer: Authority, upTo end: UInt64, _ count: UInt64) -> SessionError? {
        if count == end { return nil }
        if count < end {
            return SessionError(.truncated, "\(peer) has sent \(count) bytes of \(end); ask again to go on")
        }
        return SessionError(.malformedResponse, "\(peer) has sent more than the \(end) bytes that it announced")
    }
}
