// SPDX-License-Identifier: Apache-2.0

/// The parts of a URL or of a relative reference (RFC 3986 §4.1), without the fragment.
struct URLReference {
    /// Scheme and authority if the text has an authority; nil if both come from a base.
    let origin: (scheme: Scheme, authority: Authority)?
    /// The path in its wire form; may be empty.
    let path: String
    /// The query in its wire form, without the question mark; nil if there is none.
    let query: String?

    /// Splits `text` into its parts.
    ///
    /// - Parameter schemeOfBase: the scheme for `//host/path`, which has none of its own; nil if there is no base.
    init(_ text: String, schemeOfBase: Scheme?) throws(HTTPURLError) {
        let bytes = Array(text.utf8)
        try Self.checkCharacters(bytes)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        var rest = bytes[..<end]
        let scheme = try Self.scheme(takenFrom: &rest)
        if rest.starts(with: "//".utf8), let scheme = scheme ?? schemeOfBase {
            let host = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            self.origin = (scheme, try Self.authority(host, of: scheme))
            rest = rest[host.endIndex...]
        } else if let scheme {
            throw HTTPURLError(
                .invalidHost, "the URL has no host; write // and a host after \(scheme.rawValue):",
                offset: rest.startIndex)
        } else {
            self.origin = nil
        }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        self.path = Self.escaped(path)
        self.query = path.endIndex < rest.endIndex ? Self.escaped(rest[(path.endIndex + 1)...]) : nil
    }

    private static func checkCharacters(_ bytes: [UInt8]) throws(HTTPURLError) {
        guard let offset = bytes.firstIndex(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) else {
            return
        }
        let fact =
            switch bytes[offset] {
            case 0x20: "a space; write %20"
            case UInt8(ascii: "\\"): "a backslash; write / or %5C"
            default: "a control character; remove it"
            }
        throw HTTPURLError(.illegalCharacter, "the URL has \(fact)", offset: offset)
    }

    /// Removes a scheme and its colon from the beginning of `rest` (RFC 3986 §3.1); nil if there is none.
    private static func scheme(takenFrom rest: inout ArraySlice<UInt8>) throws(HTTPURLError) -> Scheme? {
        let name = rest.prefix { Self.isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) }
        guard let first = name.first, Self.isLetter(first), name.endIndex < rest.endIndex,
            rest[name.endIndex] == UInt8(ascii: ":")
        else { return nil }
        guard let scheme = Scheme(rawValue: String(decoding: name.map(ASCII.lowercased), as: UTF8.self)) else {
            throw HTTPURLError(
                .unknownScheme, "the URL's scheme is neither http nor https; begin it with https:// or http://",
                offset: 0)
        }
        rest = rest[(name.endIndex + 1)...]
        return scheme
    }

    private static func authority(_ bytes: ArraySlice<UInt8>, of scheme: Scheme) throws(HTTPURLError) -> Authority {
        if let sign = bytes.firstIndex(of: UInt8(ascii: "@")) {
            throw HTTPURLError(
                .userInformation, "the URL has user information before its host; give the credential by itself",
                offset: sign)
        }
        if let offset = bytes.firstIndex(where: { $0 >= 0x80 }) {
            throw HTTPURLError(
                .invalidHost, "the host is not ASCII; write its A-label, as in xn--bcher-kva.example", offset: offset)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        if let authority = Authority(text, defaultPort: scheme.defaultPort) { return authority }
        let isBracketed = bytes.first == UInt8(ascii: "[")
        let hostEnd = isBracketed ? bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : bytes.startIndex
        if let colon = bytes[(hostEnd ?? bytes.endIndex)...].firstIndex(of: UInt8(ascii: ":")),
            Authority(String(decoding: bytes[..<colon], as: UTF8.self), defaultPort: scheme.defaultPort) != nil
        {
            throw HTTPURLError(.invalidPort, "the port is not a number from 1 to 65535", offset: colon + 1)
        }
        throw HTTPURLError(
            .invalidHost,
            bytes.isEmpty
                ? "the URL has no host; write one after //"
                : "the host is neither a name of letters, digits, dots and hyphens nor an IP address",
            offset: bytes.startIndex)
    }

    /// Returns `bytes`, with each byte percent-encoded that neither a path nor a query may have (RFC 3986 §3.3, §3.4).
    private static func escaped(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.allSatisfy(Self.isAllowed) { return String(decoding: bytes, as: UTF8.self) }
        var escaped: [UInt8] = []
        for byte in bytes {
            if Self.isAllowed(byte) {
                escaped.append(byte)
            } else {
                PercentEscaping.escape(byte: byte, into: &escaped)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// True for the bytes of paths and queries, and for the percent sign: escapes are not escaped again, and broken ones
    /// are not repaired.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        Self.isLetter(byte) || ASCII.isDigit(byte) || "-._~!$&'()*+,;=:@/?%".utf8.contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { ASCII.lowercased(byte) &- 0x61 < 26 }
}
