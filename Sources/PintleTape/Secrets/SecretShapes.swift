// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleMessage

/// Finds secrets that can be told by their form alone: tokens with the prefixes of services, JSON Web Tokens, private keys,
/// credentials of HTTP in text, and passwords in URLs.
///
/// It reads bytes of any encoding that contains ASCII, in linear time.
package enum SecretShapes {
    /// A secret in a text.
    package struct Match: Sendable, Equatable {
        /// The bytes of the secret.
        package let range: Range<Int>
        /// A few words: `GitHub token`.
        package let kind: String
    }

    /// Returns the secrets in the order of their places. Masks are none.
    package static func matches(in bytes: [UInt8]) -> [Match] {
        bytes.withUnsafeBufferPointer { bytes in
            var scan = SecretScan(bytes)
            return scan.all()
        }
    }

    package static func matches(in text: String) -> [Match] { self.matches(in: Array(text.utf8)) }

    /// Returns the bytes with each secret replaced.
    ///
    /// - Parameters:
    ///   - keepsLength: true to replace each byte of a secret, so that lengths within the bytes stay true.
    ///   - hidden: the secrets are added to it.
    package static func masked(_ bytes: [UInt8], keepsLength: Bool = false, _ hidden: inout [String]) -> [UInt8] {
        let found = self.matches(in: bytes)
        if found.isEmpty { return bytes }
        var (result, index) = ([UInt8](), 0)
        result.reserveCapacity(bytes.count)
        for match in found {
            result += bytes[index..<match.range.lowerBound]
            hidden.append(String(decoding: bytes[match.range], as: UTF8.self))
            result += [UInt8](repeating: UInt8(ascii: "*"), count: keepsLength ? match.range.count : 3)
            index = match.range.upperBound
        }
        return result + bytes[index...]
    }
}

/// One pass over the bytes.
private struct SecretScan {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The last run of each set of bytes: each place within it has the same end, so no byte is read twice for one set.
    private var runs = [Range<Int>](repeating: 0..<0, count: TokenBytes.allCases.count)

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func all() -> [SecretShapes.Match] {
        var (found, index) = ([SecretShapes.Match](), 0)
        while index < self.bytes.count {
            guard let match = self.match(at: index), !self.isMask(match.range) else {
                index += 1
                continue
            }
            found.append(match)
            index = match.range.upperBound
        }
        return found
    }

    private func isMask(_ range: Range<Int>) -> Bool { range.allSatisfy { self.bytes[$0] == UInt8(ascii: "*") } }

    private mutating func match(at index: Int) -> SecretShapes.Match? {
        let byte = self.bytes[index]
        if let special = self.special(byte, at: index) { return special }
        guard let shapes = SecretShape.byFirstByte[byte], self.isBeginning(index) else { return nil }
        for shape in shapes where self.has(shape.prefix, at: index) {
            let start = index + shape.prefix.count
            let end = self.endOfRun(shape.bytes, from: start)
            let count = end - start
            guard count >= shape.least, shape.isExact ? count == shape.least : true else { continue }
            if shape.mustBeMixed, !self.isMixed(start..<end) { continue }
            return SecretShapes.Match(range: index..<end, kind: shape.kind)
        }
        return nil
    }

    /// Shapes that are more than a prefix.
    private mutating func special(_ byte: UInt8, at index: Int) -> SecretShapes.Match? {
        switch byte {
        case UInt8(ascii: "e"): self.webToken(index)
        case UInt8(ascii: "-"): self.privateKey(index)
        case UInt8(ascii: ":"): self.userInformation(index)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self.telegramToken(index)
        case UInt8(ascii: "B"), UInt8(ascii: "b"): self.credentials(index)
        case UInt8(ascii: "M")...UInt8(ascii: "O"): self.discordToken(index)
        case UInt8(ascii: "s"), UInt8(ascii: "S"), UInt8(ascii: "A"): self.namedKey(index)
        case UInt8(ascii: "h"), UInt8(ascii: "d"): self.webhook(index)
        default: nil
        }
    }

    // MARK: Shapes

    /// A JSON Web Token or JWE in compact form (RFC 7519): parts in base64url, of which the first begins with `{"`.
    private mutating func webToken(_ index: Int) -> SecretShapes.Match? {
        guard self.has(Self.webTokenStart, at: index), self.isBeginning(index) else { return nil }
        var (end, parts) = (self.endOfRun(.url64, from: index), 1)
        guard end - index >= 10 else { return nil }
        while parts < 5, end + 1 < self.bytes.count, self.bytes[end] == UInt8(ascii: ".") {
            end = self.endOfRun(.url64, from: end + 1)
            parts += 1
        }
        return parts >= 3 ? SecretShapes.Match(range: index..<end, kind: "JSON Web Token") : nil
    }

    private static let webTokenStart = Array("eyJ".utf8)
    private static let keyStart = Array("-----BEGIN".utf8)
    private static let keyEnd = Array("-----END".utf8)
    private static let keyLabel = Array("PRIVATE".utf8)

    /// A private key in PEM (RFC 7468), also as a string of JSON or a form; if its end is missing, up to the last byte that may
    /// be part of it.
    private func privateKey(_ index: Int) -> SecretShapes.Match? {
        guard self.has(Self.keyStart, at: index) else { return nil }
        var place = index + Self.keyStart.count
        let labelEnd = min(self.bytes.count, place + 40)
        let label = place
        while place < labelEnd, self.bytes[place] != UInt8(ascii: "-") { place += 1 }
        guard (label..<place).contains(where: { self.has(Self.keyLabel, at: $0) }) else { return nil }
        while place < self.bytes.count, self.bytes[place] == UInt8(ascii: "-") { place += 1 }
        while place < self.bytes.count, !self.isKeyEnd(place) { place += 1 }
        if self.has(Self.keyEnd, at: place) {
            place += Self.keyEnd.count
            while place < self.bytes.count, self.bytes[place] != UInt8(ascii: "-"), self.bytes[place] >= 0x20 {
                place += 1
            }
            while place < self.bytes.count, self.bytes[place] == UInt8(ascii: "-") { place += 1 }
        }
        return SecretShapes.Match(range: index..<place, kind: "private key")
    }

    private func isKeyEnd(_ place: Int) -> Bool {
        switch self.bytes[place] {
        case UInt8(ascii: "-"): place + 1 < self.bytes.count && self.bytes[place + 1] == UInt8(ascii: "-")
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: "&"), 0: true
        default: false
        }
    }

    /// `://user:password@`.
    private func userInformation(_ index: Int) -> SecretShapes.Match? {
        guard self.has(Self.authorityStart, at: index) else { return nil }
        let start = index + Self.authorityStart.count
        var (place, at) = (start, Int?.none)
        while place < min(self.bytes.count, start + 1024), !Self.endsAuthority(self.bytes[place]) {
            if self.bytes[place] == UInt8(ascii: "@") { at = place }
            place += 1
        }
        guard let at, at > start else { return nil }
        return SecretShapes.Match(range: start..<at, kind: "password in a URL")
    }

    private static let authorityStart = Array("://".utf8)

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte <= 0x20 || "/?#\"'<>\\`".utf8.contains(byte)
    }

    /// `123456789:` and 35 characters, also behind `bot` in a path.
    private mutating func telegramToken(_ index: Int) -> SecretShapes.Match? {
        if index > 0, ASCII.isDigit(self.bytes[index - 1]), !self.isBehindEscape(index) { return nil }
        var place = index
        while place < min(self.bytes.count, index + 11), ASCII.isDigit(self.bytes[place]) { place += 1 }
        guard (8...10).contains(place - index), place < self.bytes.count, self.bytes[place] == UInt8(ascii: ":") else {
            return nil
        }
        let end = self.endOfRun(.url64, from: place + 1)
        guard end - place - 1 == 35, self.isMixed((place + 1)..<end) else { return nil }
        return SecretShapes.Match(range: index..<end, kind: "Telegram bot token")
    }

    /// An id, a time and a code, in base64url with points between.
    private mutating func discordToken(_ index: Int) -> SecretShapes.Match? {
        guard self.isBeginning(index) else { return nil }
        let first = self.endOfRun(.url64, from: index)
        guard (24...28).contains(first - index), first < self.bytes.count, self.bytes[first] == UInt8(ascii: ".") else {
            return nil
        }
        let second = self.endOfRun(.url64, from: first + 1)
        guard second - first == 7, second < self.bytes.count, self.bytes[second] == UInt8(ascii: ".") else {
            return nil
        }
        let end = self.endOfRun(.url64, from: second + 1)
        guard (27...40).contains(end - second - 1) else { return nil }
        return SecretShapes.Match(range: index..<end, kind: "Discord token")
    }

    /// `Bearer` and `Basic` with credentials (RFC 6750, RFC 7617), in text or in a form.
    private mutating func credentials(_ index: Int) -> SecretShapes.Match? {
        guard self.isBeginning(index) else { return nil }
        for (word, least) in Self.schemes where self.has(word, at: index, ignoringCase: true) {
            let start = self.endOfBlank(from: index + word.count)
            guard start > index + word.count else { continue }
            let end = self.endOfRun(.token68, from: start)
            guard end - start >= least else { continue }
            if word.count == 5 {
                if !Self.isBasic(Array(self.bytes[start..<end])) { continue }
            } else if !(start..<end).contains(where: { ASCII.isDigit(self.bytes[$0]) }) {
                continue
            }
            return SecretShapes.Match(range: start..<end, kind: "credentials of HTTP")
        }
        return nil
    }

    private static let schemes = [(Array("bearer".utf8), 12), (Array("basic".utf8), 6)]

    private func endOfBlank(from start: Int) -> Int {
        var place = start
        while place < self.bytes.count {
            if self.bytes[place] == 0x20 || self.bytes[place] == UInt8(ascii: "+") {
                place += 1
            } else if self.has(Self.escapedSpace, at: place) {
                place += Self.escapedSpace.count
            } else {
                break
            }
        }
        return place
    }

    private static let escapedSpace = Array("%20".utf8)

    private static func isBasic(_ text: [UInt8]) -> Bool {
        let plain = text.filter { $0 != UInt8(ascii: "=") }
        let padded = plain + [UInt8](repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        guard let decoded = Data(base64Encoded: Data(padded)) else { return false }
        return decoded.contains(UInt8(ascii: ":")) && decoded.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Keys that only their names tell: of Amazon's and Azure's accounts.
    private mutating func namedKey(_ index: Int) -> SecretShapes.Match? {
        for (name, kind) in Self.keyNames where self.has(name, at: index, ignoringCase: true) {
            var start = index + name.count
            while start < min(self.bytes.count, index + name.count + 12), Self.isSeparator(self.bytes[start]) {
                start += 1
            }
            guard start > index + name.count else { continue }
            let end = self.endOfRun(.base64, from: start)
            let count = end - start
            guard kind == Self.amazon ? count == 40 : count >= 32 else { continue }
            return SecretShapes.Match(range: start..<end, kind: kind)
        }
        return nil
    }

    private static let amazon = "AWS secret key"
    private static let keyNames: [([UInt8], String)] =
        ["secret_access_key", "secretaccesskey", "secret-access-key", "secret_key", "secretkey", "secret access key"]
        .map {
            (Array($0.utf8), amazon)
        } + ["accountkey=", "sharedaccesskey="].map { (Array($0.utf8.dropLast()), "Azure key") }

    private static func isSeparator(_ byte: UInt8) -> Bool { " \t\"'\\:=>{,".utf8.contains(byte) }

    /// The addresses of webhooks: their paths are secrets.
    private mutating func webhook(_ index: Int) -> SecretShapes.Match? {
        for (address, kind) in Self.webhooks where self.has(address, at: index) {
            let start = index + address.count
            let end = self.endOfRun(.path, from: start)
            if end - start >= 20 { return SecretShapes.Match(range: start..<end, kind: kind) }
        }
        return nil
    }

    private static let webhooks = [
        ("hooks.slack.com/services/", "Slack webhook"), ("hooks.slack.com/workflows/", "Slack webhook"),
        ("hooks.slack.com/triggers/", "Slack webhook"), ("discord.com/api/webhooks/", "Discord webhook"),
        ("discordapp.com/api/webhooks/", "Discord webhook"),
    ].map { (Array($0.utf8), $1) }

    // MARK: Bytes

    private func has(_ text: [UInt8], at index: Int, ignoringCase: Bool = false) -> Bool {
        guard index + text.count <= self.bytes.count else { return false }
        for offset in text.indices {
            let byte = self.bytes[index + offset]
            guard byte == text[offset] || ignoringCase && ASCII.lowercased(byte) == text[offset] else { return false }
        }
        return true
    }

    /// True if no word contains the byte before `index`. Escapes of URLs and of JSON are not part of words.
    private func isBeginning(_ index: Int) -> Bool {
        guard index > 0, TokenBytes.word.has(self.bytes[index - 1]) else { return true }
        return self.isBehindEscape(index)
    }

    private func isBehindEscape(_ index: Int) -> Bool {
        let before = { (count: Int) in index >= count ? self.bytes[index - count] : 0 }
        return before(3) == UInt8(ascii: "%") || before(2) == UInt8(ascii: "\\")
            || before(6) == UInt8(ascii: "\\") && before(5) == UInt8(ascii: "u")
    }

    private mutating func endOfRun(_ set: TokenBytes, from start: Int) -> Int {
        let known = self.runs[set.rawValue]
        if known.contains(start) { return known.upperBound }
        var end = start
        while end < self.bytes.count, set.has(self.bytes[end]) { end += 1 }
        self.runs[set.rawValue] = start..<max(start, end)
        return max(start, end)
    }

    /// True if letters and digits are mixed, as in no words with hyphens between. A long run is judged by its beginning, so that
    /// the many places in it at which a token might begin do not each read all of it.
    private func isMixed(_ range: Range<Int>) -> Bool {
        var (digits, letters) = (0, 0)
        for index in range.prefix(128) {
            if ASCII.isDigit(self.bytes[index]) { digits += 1 }
            if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self.bytes[index] | 0x20) { letters += 1 }
        }
        return digits >= 2 && letters >= 2
    }
}
