// SPDX-License-Identifier: Apache-2.0

/// Questions about the path of a request target, asked of its text up to the query.
enum RequestPath {
    /// Whether a segment is `.` or `..` to any server: also percent-encoded, once or twice, beside an encoded slash or a
    /// backslash, which some take for separators, and in front of parameters (`..;x`), which some cut off.
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
            // At the encoded beginning of a query a segment ends for those who decode first.
            case UInt8(ascii: ";"), UInt8(ascii: "?"), UInt8(ascii: "#"): hasEnded = true
            case UInt8(ascii: "."): if !hasEnded { dots += 1 }
            default: if !hasEnded { hasOnlyDots = false }
            }
        }
        return hasOnlyDots && (dots == 1 || dots == 2)
    }

    /// The path with dot segments resolved (RFC 3986 §5.2.4), without its query; nil when there are none to resolve.
    ///
    /// Rules look at this form: `/public/../admin` is `/admin` to the server that gets it. For paths that all servers split
    /// alike (``PathReadings``).
    static func resolvingDotSegments(_ path: String) -> String? {
        guard Self.hasDotSegments(path) else { return nil }
        var resolved: [[UInt8]] = []
        var segment: [UInt8] = []
        var input = UnreservedBytes(Array(path.utf8))
        // What stands before the first slash is empty.
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

    /// What is left of `path` without `prefix`, beginning with a slash; nil when whole segments do not match.
    static func removing(prefix: String, from path: String) -> Substring? {
        // As routes compare: what a route was chosen for with `/%70ay` must lose its `/pay`, too.
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
