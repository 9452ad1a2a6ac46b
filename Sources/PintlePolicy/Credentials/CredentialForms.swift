// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleMessage

/// The forms that a text takes in messages.
enum CredentialForms {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// In a query, or in a form: everything but unreserved characters is escaped (RFC 3986 §2.1).
    ///
    /// - Parameter kept: the characters besides letters and digits that stay as they are.
    static func percentEncoded(_ text: [UInt8], keeping kept: String = "-._~") -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            let isPlain = ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 || kept.utf8.contains(byte)
            return isPlain ? [byte] : [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
        }
    }

    /// The characters that functions of well-known languages keep: `encodeURIComponent`, `encodeURI`, Python's `quote`, forms of
    /// browsers and of Java, PHP's `urlencode`, Go's `PathEscape`, and paths as RFC 3986 §3.3 has them.
    private static let keptInURLs = [
        "-._~!'()*", "-._~!'()*;,/?:@&=+$#", "-._~/", "-._*", "-._", "-._~$&+=:@", "-._~!$&'()*+,;=:@/",
    ]

    /// In a string of JSON (RFC 8259 §7). The text is visible ASCII.
    static func jsonEscaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in "\"\\".utf8.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte] }
    }

    private static func replacing(_ names: [Unicode.Scalar: String], in text: [UInt8]) -> [UInt8] {
        text.flatMap { byte in names[Unicode.Scalar(byte)].map { Array($0.utf8) } ?? [byte] }
    }

    /// In the text of a document of HTML or XML, as most programs write it.
    private static let markup: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]

    /// The characters that programs escape besides, or otherwise: cautious ones, Handlebars, Mustache, Go, libraries of Python, Ruby
    /// and JavaScript, PHP, XML, and texts outside of attributes.
    private static let moreMarkup: [[Unicode.Scalar: String]] = [
        ["'": "&#x27;", "/": "&#x2F;", "+": "&#x2B;"],
        ["'": "&#x27;", "`": "&#x60;", "=": "&#x3D;"],
        ["'": "&#39;", "/": "&#x2F;", "`": "&#x60;", "=": "&#x3D;"],
        ["\"": "&#34;", "'": "&#39;", "+": "&#43;"],
        ["\"": "&#34;", "'": "&#39;"],
        ["'": "&#39;"], ["'": "&#x27;"], ["'": "&#039;"], ["'": "&apos;"], ["\"": "\""],
    ]

    /// In a string of JSON that may stand in a document of HTML.
    private static let json: [Unicode.Scalar: String] = [
        "&": "\\u0026", "<": "\\u003c", ">": "\\u003e", "\"": "\\\"", "\\": "\\\\",
    ]

    /// The characters that programs escape besides, or otherwise: cautious ones, .NET, Gson and PHP.
    private static let moreJSON: [[Unicode.Scalar: String]] = [
        ["\"": "\\u0022", "'": "\\u0027", "+": "\\u002b"],
        ["\"": "\\u0022", "'": "\\u0027", "+": "\\u002b", "`": "\\u0060"],
        ["'": "\\u0027", "=": "\\u003d"],
        ["\"": "\\u0022", "'": "\\u0027", "/": "\\/"],
    ]

    private static func hexadecimal(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
    }

    /// The part of a Base64 text that depends on `text` alone, whatever stands before and behind it (RFC 4648 §4).
    ///
    /// - Parameter offset: the number of bytes before it, modulo three.
    private static func base64(_ text: [UInt8], behind offset: Int) -> [UInt8] {
        let whole = Array(Data([UInt8](repeating: 0, count: offset) + text).base64EncodedString().utf8)
        // A digit has six bits. The first whole one of the text, and the one behind the last whole one.
        let first = (offset * 8 + 5) / 6
        let end = (offset + text.count) * 8 / 6
        return Array(whole[first..<end])
    }

    /// The forms in which a server may repeat a text, each once.
    static func echoes(of text: String) -> [[UInt8]] {
        let text = Array(text.utf8)
        let encoded = (0..<3).map { Self.base64(text, behind: $0) }
        let urlSafe = encoded.map { form in
            form.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
        }
        let slashes = Self.jsonEscaped(text).flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
        let percentEncoded = Self.percentEncoded(text)
        // A URL that is a part of another one is encoded twice.
        let inURLs =
            [percentEncoded, Self.percentEncoded(percentEncoded)]
            + Self.keptInURLs.map { Self.percentEncoded(text, keeping: $0) }
        let inMarkup = ([[:]] + Self.moreMarkup).map { Self.replacing(Self.markup.merging($0) { $1 }, in: text) }
        let inJSON = ([[:]] + Self.moreJSON).map { Self.replacing(Self.json.merging($0) { $1 }, in: text) }
        let others = [text, Self.jsonEscaped(text), slashes, Self.hexadecimal(text)]
        let all = [others, inURLs, inMarkup, inJSON, encoded, urlSafe].joined()
        return all.reduce(into: []) { forms, form in if !forms.contains(form) { forms.append(form) } }
    }
}
