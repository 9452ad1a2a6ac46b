// SPDX-License-Identifier: Apache-2.0

/// Removes secrets from bodies that are about to be shown.
///
/// A body has no place in which secrets must be, so this errs on the side of too much: the values of forms, the members of JSON
/// with names as `password` and `access_token`, and, wherever they stand, the credentials that the exchange has in its fields and
/// its query. Everything works on parts of bodies, too.
package struct BodyRedaction: Sendable {
    /// The shortest secret that is looked for everywhere, in bytes; a shorter one would be found in words.
    package static let shortestSecret = 6

    private let secrets: [[UInt8]]

    /// A body with its secrets masked.
    package struct Masked: Sendable {
        package let bytes: [UInt8]
        /// The texts that were masked because of their places, which another body may repeat.
        package fileprivate(set) var hidden: [String] = []
    }

    /// - Parameter secrets: texts that are masked wherever they stand. Those below ``shortestSecret`` are left out.
    package init(secrets: [String]) {
        // The longest first: one may be the beginning of another.
        self.secrets = Set(secrets.map { Array($0.utf8) }.filter { $0.count >= Self.shortestSecret })
            .sorted { $0.count > $1.count }
    }

    /// Masks the secrets of a body.
    ///
    /// - Parameter type: the media type, with its parameters; nil if it is not known.
    package func masked(_ bytes: [UInt8], type: String?) -> Masked {
        let essence = type?.prefix { $0 != ";" }.lowercased().filter { $0 != " " } ?? ""
        var hidden: [String] = []
        let shaped =
            switch essence {
            case _ where Self.mayBeJSON(bytes): JSONRedaction.masked(bytes, &hidden)
            case "application/x-www-form-urlencoded": Self.maskedForm(bytes, &hidden)
            case "multipart/form-data": MultipartRedaction.masked(bytes, &hidden)
            default: bytes
            }
        return Masked(bytes: self.maskedSecrets(shaped), hidden: hidden)
    }

    private static func maskedForm(_ bytes: [UInt8], _ hidden: inout [String]) -> [UInt8] {
        let form = String(decoding: bytes, as: UTF8.self)
        hidden += form.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            String(Substring(pair.drop { $0 != UInt8(ascii: "=") }.dropFirst()))
        }
        return Array(Redaction.on.url("?" + form).utf8.dropFirst())
    }

    /// True if the first byte behind blanks begins an object or an array. The type is not asked: many servers send a wrong one.
    private static func mayBeJSON(_ bytes: [UInt8]) -> Bool {
        let first = bytes.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Masks the secrets that were given, wherever they stand.
    ///
    /// - Parameters:
    ///   - isCut: true if the bytes may end within a secret; its beginning is then masked, too.
    ///   - keepsLength: true to replace each byte, so that lengths within the body stay true.
    package func maskedSecrets(_ bytes: [UInt8], isCut: Bool = true, keepsLength: Bool = false) -> [UInt8] {
        guard !self.secrets.isEmpty else { return bytes }
        var (result, index) = ([UInt8](), 0)
        result.reserveCapacity(bytes.count)
        // A body is at most some MiB, and an exchange has few secrets; those that begin with the same byte are compared.
        let byFirst = Dictionary(grouping: self.secrets) { $0[0] }
        func mask(_ count: Int) {
            result += keepsLength ? Array(repeating: UInt8(ascii: "*"), count: count) : Array(Redaction.mask.utf8)
            index += count
        }
        while index < bytes.count {
            let rest = bytes[index...]
            if let secret = byFirst[bytes[index]]?.first(where: { rest.starts(with: $0) }) {
                mask(secret.count)
            } else if isCut, byFirst[bytes[index]]?.contains(where: { Self.isCut($0, at: rest) }) == true {
                mask(bytes.count - index)
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// True if the bytes end with the beginning of the secret, and with enough of it to tell something.
    private static func isCut(_ secret: [UInt8], at rest: ArraySlice<UInt8>) -> Bool {
        rest.count >= 4 && rest.count < secret.count && secret.starts(with: rest)
    }
}
