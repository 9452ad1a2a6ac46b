// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import PintleMessage
internal import PintleSystem

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

    /// Says no more than that a download has begun to write `file`; nobody can go on with it.
    init(claiming file: String) {
        (self.url, self.file, self.offset, self.validator, self.length) = ("", file, 0, "", nil)
    }

    static func sidecar(of path: String) -> String { "\(path).json" }

    /// Reads what is kept beside `file`; nil where nothing is, or nothing that can be understood.
    static func note(beside file: String) -> PartialDownload? {
        guard let text = FileBytes.read(Self.sidecar(of: file), upTo: 1 << 20) else { return nil }
        return try? JSONDecoder().decode(PartialDownload.self, from: Data(text))
    }

    /// Whether a download in `file` can go on by it; otherwise it begins at zero.
    func isUsable(in file: String) -> Bool {
        // The validator becomes the value of a field, and others may have written it.
        self.file == file && FieldSyntax.isValue(self.validator)
    }

    /// Writes it beside its file, in one step. Only this user may read it, as a URL may let in whoever has it.
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
            // Otherwise a machine that stops may leave the name without the words, and the part as nobody's.
            guard fdatasync(file.descriptor) == 0, rename(new, path) == 0 else { throw .cannotWrite(path, errno) }
        } catch {
            unlink(new)
            throw error
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
