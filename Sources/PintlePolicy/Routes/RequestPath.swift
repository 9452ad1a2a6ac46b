// SPDX-License-Identifier: Apache-2.0

/// Questions about the path of a request target, answered from its text up to the query.
enum RequestPath {
    /// True if any server takes a segment for `.` or `..`: also percent-encoded, once or twice, beside an encoded slash or a
    /// backslash, which some servers take for separators, and before parameters (`..;x`), which some servers cut off.
    static func hasDotSegments(_ path: some StringProtocol) -> Bool {
        path.utf8.withContiguousStorageIfAvailable { Self.hasDotSegments(bytes: $0) }
            ?? Self.hasDotSegments(bytes: Array(path.utf8))
    }

    private static func hasDotSegments<Bytes: RandomAccessCollection<UInt8>>(
        bytes: Bytes
    ) -> Bool where Bytes.Index == Int {
        var dots = 0
        var hasOnlyDots = true
        var hasEnded = false
        var input = PathBytes(bytes)
        while let element = input.next() {
            switch element.byte {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"):
                if hasOnlyDots, dots == 1 || dots == 2 { return true }
                (dots, hasOnlyDots, hasEnded) = (0, true, false)
            // For servers that decode first, a segment ends at the encoded beginning of a query.
            case UInt8(ascii: ";"), UInt8(ascii: "?"), UInt8(ascii: "#"): hasEnded = true
            case UInt8(ascii: "."): if !hasEnded { dots += 1 }
            default: if !hasEnded { hasOnlyDots = false }
            }
        }
        return hasOnlyDots && (dots == 1 || dots == 2)
    }

    /// The path with dot segments resolved (RFC 3986 §5.2.4), without its query; nil if there are none to resolve.
    ///
    /// Rules are matched against this form: the server that gets `/public/../admin` reads `/admin`. Only for paths that all
    /// servers split alike (``PathReadings``).
    static func resolvingDotSegments(_ path: String) -> String? {
        guard Self.hasDotSegments(path) else { return nil }
        var resolved: [[UInt8]] = []
        var segment: [UInt8] = []
        var input = UnreservedBytes(Array(path.utf8))
        // The text before the first slash is empty.
        _ = input.next()
        while let byte = input.next() {
            if byte == UInt8(ascii: "/") {
                Self.append(segment, isLast: false, to: &resolved)
                segment = []
            } else {
                segment.append(byte)
            }
        }
        Self.append(segment, isLast: true, to: &resolved)
        return "/" + resolved.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    }

    /// The rest of `path` after `prefix`, beginning with a slash; nil if whole segments do not match.
    static func removing(prefix: String, from path: String) -> Substring? {
        // Compares as routes do: a path that matched a route's `/pay` as `/%70ay` must lose it, too.
        var wanted = UnreservedBytes(Array(prefix.utf8))
        var input = UnreservedBytes(Array(path.utf8))
        while let byte = wanted.next() {
            guard input.next() == byte else { return nil }
        }
        let rest = path[path.utf8.index(path.startIndex, offsetBy: input.consumed)...]
        switch rest.utf8.first {
        case UInt8(ascii: "/"): return rest
        case nil, UInt8(ascii: "?"): return Substring("/" + rest)
        default: return nil
        }
    }

    private static func append(_ segment: [UInt8], isLast: Bool, to resolved: inout [[UInt8]]) {
        let isDots = segment.allSatisfy { $0 == UInt8(ascii: ".") } && (1...2).contains(segment.count)
        if isDots, segment.count == 2 { _ = resolved.popLast() }
        if !isDots {
            resolved.append(segment)
        } else if isLast {
            resolved.append([])
        }
    }
}
