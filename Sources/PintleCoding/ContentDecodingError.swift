// SPDX-License-Identifier: Apache-2.0

/// The reason why the codings of a body cannot be decoded.
package enum ContentDecodingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The coding is not supported; the name is in lower case.
    case unknownCoding(String)
    /// There are more codings than ``ContentCoding/layerLimit``.
    case tooManyCodings(Int)
    /// The bytes are not in the coding's format; the reason comes from the library.
    case corrupt(ContentCoding, reason: String)
    /// The bytes end before the coding does.
    case truncated(ContentCoding)
    /// The coding ends before the bytes do.
    case trailingBytes(ContentCoding)
    /// The decoded body has more than this many bytes.
    case beyondLimit(Int)
    /// The caller stopped the decoding.
    case stopped
    /// There is no memory for the decoder.
    case outOfMemory(ContentCoding)

    /// A sentence about the body, such as `its gzip coding is cut off`.
    package var description: String {
        switch self {
        case .unknownCoding(let name):
            let known = ContentCoding.allCases.map(\.rawValue).joined(separator: ", ")
            // The sender could otherwise make the sentence as long as it likes.
            let shown = name.unicodeScalars.count > 80 ? "\(String(name.unicodeScalars.prefix(80)))…" : name
            return "its content coding “\(shown)” is none that can be undone; these can: \(known)"
        case .tooManyCodings(let count):
            return "it has \(count) content codings, and at most \(ContentCoding.layerLimit) are undone"
        case .corrupt(let coding, let reason): return "its \(coding) coding is broken: \(reason)"
        case .truncated(let coding): return "its \(coding) coding is cut off"
        case .trailingBytes(let coding): return "bytes follow the end of its \(coding) coding"
        case .beyondLimit(let limit): return "decoded it is over \(limit) bytes"
        case .stopped: return "its codings were not undone to the end"
        case .outOfMemory(let coding): return "there is no memory to undo its \(coding) coding"
        }
    }
}
