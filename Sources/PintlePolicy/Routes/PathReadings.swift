// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// All paths that servers may read in the path of a request.
///
/// Servers agree about most paths. They differ if a path has empty segments (`//` is `/` to nginx), parameters (`;x` is cut
/// off by servlet containers), backslashes (`/` to IIS), encoded separators (decoded before the path is split, or after), or
/// escapes that are decoded twice because two servers decode one after the other. Rules about paths are matched against each
/// reading, so that no reading bypasses a rule.
package struct PathReadings: Sendable, Equatable {
    /// Paths without a query, in which escapes of unreserved characters count as the characters. The first is the reading by
    /// RFC 3986; all are different.
    package let all: [[UInt8]]

    /// The longest path that is read in more than one way, in bytes: a path with up to 64 readings must be short.
    package static let longestAmbiguous = 2048

    /// Reads `path`, which begins with a slash; ignores a query after it.
    ///
    /// - Throws: the reason if even a rule that is matched against every reading could not tell what a server will answer: dot
    ///   segments in parts that are read differently, an encoded NUL, or an ambiguous path that is too long.
    package init(_ path: String) throws(Malformed) {
        let bytes = Array(path.utf8)
        guard let differences = Differences(bytes) else {
            self.all = [Array((RequestPath.resolvingDotSegments(path) ?? path).utf8)]
            return
        }
        guard !differences.hasNUL else { throw Malformed("the path has an encoded NUL, at which some servers end it") }
        guard bytes.count <= Self.longestAmbiguous else {
            throw Malformed(
                "servers read the path differently because of its empty segments, parameters or encoded separators, and it "
                    + "is longer than \(Self.longestAmbiguous) bytes")
        }
        guard !RequestPath.hasDotSegments(path) else {
            throw Malformed(
                "the path has . or .. segments beside empty segments, parameters or encoded separators, so servers read "
                    + "it differently")
        }
        var elements: [PathBytes<[UInt8]>.Element] = []
        var input = PathBytes(bytes)
        while let element = input.next() { elements.append(element) }
        var seen: Set<[UInt8]> = []
        self.all = Reader.all(for: differences).map { $0.read(elements) }.filter { seen.insert($0).inserted }
    }

    /// True if every server reads `path` alike, once its dot segments are resolved.
    static func isPlain(_ path: String) -> Bool { Differences(Array(path.utf8)) == nil }

    /// The features of a path that servers read differently; nil if there are none.
    private struct Differences {
        private(set) var hasEncodedSlash = false
        private(set) var hasBackslash = false
        private(set) var hasParameters = false
        private(set) var hasEncodedQuery = false
        private(set) var isEncodedTwice = false
        private(set) var hasNUL = false
        private var hasEmptySegment = false

        init?(_ bytes: [UInt8]) {
            var input = PathBytes(bytes)
            var last: UInt8?
            while let element = input.next() {
                switch (element.byte, element.depth) {
                case (UInt8(ascii: "/"), 0): if last == UInt8(ascii: "/") { self.hasEmptySegment = true }
                case (UInt8(ascii: "/"), _): self.hasEncodedSlash = true
                case (UInt8(ascii: "\\"), _): self.hasBackslash = true
                case (UInt8(ascii: ";"), _): self.hasParameters = true
                case (UInt8(ascii: "?"), _), (UInt8(ascii: "#"), _): self.hasEncodedQuery = true
                case (0, _): self.hasNUL = true
                default: break
                }
                if element.depth == 2 { self.isEncodedTwice = true }
                last = element.depth == 0 ? element.byte : nil
            }
            let isAny =
                self.hasEmptySegment || self.hasEncodedSlash || self.hasBackslash || self.hasParameters
                || self.hasEncodedQuery || self.isEncodedTwice || self.hasNUL
            guard isAny else { return nil }
        }
    }

    /// One way to read a path.
    private struct Reader {
        var splitsAtEncodedSlash = false
        var splitsAtBackslash = false
        var dropsParameters = false
        var endsAtEncodedQuery = false
        var decodesTwice = false
        var mergesSlashes = false

        /// Every combination of the options that make a difference; the first one has none of them.
        static func all(for differences: Differences) -> [Reader] {
            var readers = [Reader()]
            func vary(_ isNeeded: Bool, _ option: WritableKeyPath<Reader, Bool>) {
                guard isNeeded else { return }
                readers += readers.map { reader in
                    var reader = reader
                    reader[keyPath: option] = true
                    return reader
                }
            }
            vary(differences.hasEncodedSlash, \.splitsAtEncodedSlash)
            vary(differences.hasBackslash, \.splitsAtBackslash)
            vary(differences.hasParameters, \.dropsParameters)
            vary(differences.hasEncodedQuery, \.endsAtEncodedQuery)
            vary(differences.isEncodedTwice, \.decodesTwice)
            // Any of the other options may bring two slashes together.
            vary(true, \.mergesSlashes)
            return readers
        }

        func read(_ elements: [PathBytes<[UInt8]>.Element]) -> [UInt8] {
            var path: [UInt8] = []
            path.reserveCapacity(elements.count)
            var isParameter = false
            for element in elements {
                let depth = element.depth == 2 && self.decodesTwice ? 1 : element.depth
                if self.isSeparator(element.byte, depth) {
                    isParameter = false
                    if !self.mergesSlashes || path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
                    continue
                }
                if depth == 1, self.endsAtEncodedQuery,
                    element.byte == UInt8(ascii: "?") || element.byte == UInt8(ascii: "#")
                {
                    break
                }
                if depth < 2, self.dropsParameters, element.byte == UInt8(ascii: ";") { isParameter = true }
                if !isParameter { Self.append(element.byte, depth, to: &path) }
            }
            return path
        }

        private func isSeparator(_ byte: UInt8, _ depth: Int) -> Bool {
            switch (byte, depth) {
            case (UInt8(ascii: "/"), 0): true
            case (UInt8(ascii: "/"), 1): self.splitsAtEncodedSlash
            case (UInt8(ascii: "\\"), 0), (UInt8(ascii: "\\"), 1): self.splitsAtBackslash
            default: false
            }
        }

        private static func append(_ byte: UInt8, _ depth: Int, to path: inout [UInt8]) {
            guard depth > 0 else { return path.append(byte) }
            path += depth == 2 ? Array("%25".utf8) : [UInt8(ascii: "%")]
            for digit in [byte >> 4, byte & 0xF] { path.append(digit < 10 ? 0x30 + digit : 0x41 + digit - 10) }
        }
    }
}
