// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// Functions that the readers of all formats share.
enum PinReader {
    /// Returns the text of a file.
    ///
    /// - Throws: for bytes that are not UTF-8.
    static func text(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> String {
        var bytes = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PinFormatError(file: file, line: nil, "the file is not UTF-8 text")
        }
        return text
    }

    /// Returns the lines of a text; CRLF counts as one line end.
    static func lines(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0.isNewline }
    }

    /// Reads a pin with its prefix.
    static func pin(_ text: some StringProtocol, file: String, line: Int?) throws(PinFormatError) -> Pin {
        let text = String(text)
        if text.lowercased().hasPrefix("sha1") || text.lowercased().hasPrefix("pin-sha1") {
            throw Self.weak(text, file: file, line: line)
        }
        do throws(TrustError) {
            return try Pin(text)
        } catch {
            throw PinFormatError(file: file, line: line, error.description)
        }
    }

    /// Reads a pin that is written as base64 alone.
    static func pin(base64 text: some StringProtocol, file: String, line: Int?) throws(PinFormatError) -> Pin {
        let digits = String(text)
        // 20 bytes are 27 digits and one of padding.
        if digits.count == 28, digits.hasSuffix("="), !digits.hasSuffix("==") {
            throw Self.weak(digits, file: file, line: line)
        }
        return try Self.pin("sha256/\(digits)", file: file, line: line)
    }

    private static func weak(_ text: String, file: String, line: Int?) -> PinFormatError {
        PinFormatError(
            file: file, line: line,
            "\(text.shown) is a SHA-1 digest, which nothing can be made of; take the SHA-256 pin of the same key, which "
                + "pintle pins show prints")
    }

    /// Reads a host; throws if the text is no host.
    static func host(
        _ text: some StringProtocol, _ scope: PinnedHost.Scope, file: String, line: Int?
    ) throws(PinFormatError) -> PinnedHost {
        guard var host = PinnedHost(text), host.scope == .itself, host.port == nil, host.isOne else {
            throw PinFormatError(file: file, line: line, "\(String(text).shown) is no host name")
        }
        host.scope = scope
        return host
    }

    /// Reads a date.
    static func day(_ text: some StringProtocol, file: String, line: Int?) throws(PinFormatError) -> UnixTime {
        guard let day = UnixTime(day: String(text)) else {
            throw PinFormatError(file: file, line: line, "\(String(text).shown) is no date, as 2027-01-31 is")
        }
        return day
    }
}

extension Pin {
    /// The digest in base64, without the prefix.
    var base64: String { String(self.description.dropFirst("sha256/".count)) }
}
