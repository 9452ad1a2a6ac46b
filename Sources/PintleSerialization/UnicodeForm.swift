// SPDX-License-Identifier: Apache-2.0

/// The Unicode encoding of a document whose first one or two characters are ASCII.
///
/// This holds for every JSON and every XML document. Neither has zero bytes in UTF-8, so zeros among the first four bytes
/// show the encoding (RFC 4627 §3, XML 1.0 appendix F).
enum UnicodeForm: Equatable {
    /// UTF-8, or another encoding without zero bytes, after a byte order mark of `mark` bytes.
    case utf8(mark: Int)
    case utf16(mark: Int, bigEndian: Bool)
    case utf32(mark: Int, bigEndian: Bool)

    /// The number of bytes that are enough to recognise the encoding.
    static let headCount = 4

    init(of bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(Self.headCount))
        if head.starts(with: [0xEF, 0xBB, 0xBF]) {
            self = .utf8(mark: 3)
        } else if head == [0xFF, 0xFE, 0, 0] {
            self = .utf32(mark: 4, bigEndian: false)
        } else if head == [0, 0, 0xFE, 0xFF] {
            self = .utf32(mark: 4, bigEndian: true)
        } else if head.starts(with: [0xFF, 0xFE]) {
            self = .utf16(mark: 2, bigEndian: false)
        } else if head.starts(with: [0xFE, 0xFF]) {
            self = .utf16(mark: 2, bigEndian: true)
        } else {
            self = Self.withoutMark(head)
        }
    }

    private static func withoutMark(_ head: [UInt8]) -> UnicodeForm {
        guard head.count >= 2 else { return .utf8(mark: 0) }
        switch (head[0] == 0, head[1] == 0) {
        case (true, true): return .utf32(mark: 0, bigEndian: true)
        case (true, false): return .utf16(mark: 0, bigEndian: true)
        case (false, true):
            let isWide = head.count == 4 && head[2] == 0 && head[3] == 0
            return isWide ? .utf32(mark: 0, bigEndian: false) : .utf16(mark: 0, bigEndian: false)
        case (false, false): return .utf8(mark: 0)
        }
    }

    /// The length of the byte order mark in bytes.
    var mark: Int {
        switch self {
        case .utf8(let mark), .utf16(let mark, _), .utf32(let mark, _): mark
        }
    }
}
