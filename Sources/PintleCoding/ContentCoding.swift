// SPDX-License-Identifier: Apache-2.0

/// The content codings that can be decoded (RFC 9110 §8.4.1, RFC 7932, RFC 8878). `identity` is not among them.
package enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// The gzip format (RFC 1952); `x-gzip` is another name for it.
    case gzip
    /// The zlib format (RFC 1950), and the raw deflate stream (RFC 1951) that some servers send under this name.
    case deflate
    /// Brotli, with windows up to 16 MiB.
    case br
    /// Zstandard, with windows up to 8 MiB (RFC 9659 §3).
    case zstd

    /// The maximum number of codings of one body. Two are rare and more are unheard of, but each one multiplies the size to
    /// which a small body can expand, and takes a window of up to 16 MiB.
    package static let layerLimit = 4

    /// The maximum number of list members that are read, including those without effect. Clients send up to six.
    private static let memberLimit = 64

    /// An Accept-Encoding value that names all codings, the most compact first.
    package static let accepted = "zstd, br, gzip, deflate"

    /// Reads the values of a message's Content-Encoding fields, in their order.
    ///
    /// - Returns: the codings in the order in which they were applied; empty if there is none except `identity`.
    /// - Throws: `.unknownCoding` for a name that is not supported, `.tooManyCodings` for more than ``layerLimit``.
    package static func codings(in values: some Sequence<String>) throws(ContentDecodingError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        var memberCount = 0
        for value in values {
            for member in value.utf8.split(separator: UInt8(ascii: ",")) {
                memberCount += 1
                guard memberCount <= Self.memberLimit else { throw .tooManyCodings(memberCount) }
                let name = Self.name(Self.trimmed(Substring(member)))
                if name.isEmpty || name == "identity" { continue }
                guard let coding = ContentCoding(name: name) else { throw .unknownCoding(name) }
                codings.append(coding)
            }
        }
        guard codings.count <= Self.layerLimit else { throw .tooManyCodings(codings.count) }
        return codings
    }

    /// Returns the value of Accept-Encoding for an origin whose response will have to be decoded (RFC 9110 §12.5.3).
    ///
    /// Members that name a supported coding, or `identity`, stay as they are, with their weights. Other members are
    /// removed, also `*`, which could stand for any coding. So are members after the first 64: codings that are not named
    /// are not accepted.
    ///
    /// - Parameter values: the values of the request's Accept-Encoding fields, at least one. (A request without the field
    ///   accepts anything, and stays without it.)
    /// - Returns: the new value; `identity` if no member is left.
    package static func narrowed(accepting values: some Sequence<String>) -> String {
        var members: [Substring] = []
        var memberCount = 0
        for value in values {
            for member in value.utf8.split(separator: UInt8(ascii: ",")).lazy.map({ Self.trimmed(Substring($0)) }) {
                memberCount += 1
                guard memberCount <= Self.memberLimit else { break }
                let parts = member.utf8.split(
                    separator: UInt8(ascii: ";"), maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.name(Self.trimmed(Substring(parts[0])))
                guard name == "identity" || ContentCoding(name: name) != nil else { continue }
                guard parts.count == 1 || Self.isWeight(Self.trimmed(Substring(parts[1]))) else { continue }
                members.append(member)
            }
        }
        return members.isEmpty ? "identity" : members.joined(separator: ", ")
    }

    /// - Parameter name: the name in lower case.
    private init?(name: String) {
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    /// Returns a member in lower case, with question marks for characters beyond ASCII: `String` compares long runs of
    /// combining marks in quadratic time, and no coding's name has any.
    private static func name(_ member: Substring) -> String {
        String(member.unicodeScalars.map { $0.isASCII ? Character($0) : "?" }).lowercased()
    }

    /// True for `q=` with 0 to 1 and up to three decimals (RFC 9110 §12.4.2).
    private static func isWeight(_ text: Substring) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 3, bytes.count <= 7, bytes[0] | 0x20 == UInt8(ascii: "q"), bytes[1] == UInt8(ascii: "=")
        else { return false }
        guard bytes.count == 3 || bytes[3] == UInt8(ascii: ".") else { return false }
        let decimals = bytes.dropFirst(4)
        switch bytes[2] {
        case UInt8(ascii: "0"): return decimals.allSatisfy { $0 &- 0x30 < 10 }
        case UInt8(ascii: "1"): return decimals.allSatisfy { $0 == UInt8(ascii: "0") }
        default: return false
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var bytes = text.utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return Substring(bytes)
    }
}
