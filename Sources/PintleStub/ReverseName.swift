// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Names that ask for the name of an address (RFC 1035 §3.5, RFC 3596 §2.5).
enum ReverseName {
    /// Returns the address in a name of `in-addr.arpa` or `ip6.arpa`, in lower case; nil if it is none.
    static func address(_ name: String) -> IPAddress? {
        if let labels = self.labels(name, before: ".in-addr.arpa", count: 4) {
            return IPAddress(labels.reversed().joined(separator: "."))
        }
        guard let labels = self.labels(name, before: ".ip6.arpa", count: 32) else { return nil }
        let digits = labels.reversed().compactMap { $0.utf8.count == 1 ? $0.utf8.first.flatMap(ASCII.hexValue) : nil }
        guard digits.count == 32 else { return nil }
        let half = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 4 | UInt64($1) } }
        return IPAddress(v6High: half(digits[..<16]), low: half(digits[16...]))
    }

    private static func labels(_ name: String, before suffix: String, count: Int) -> [Substring]? {
        guard name.hasSuffix(suffix) else { return nil }
        let labels = name.dropLast(suffix.count).split(separator: ".", omittingEmptySubsequences: false)
        return labels.count == count ? labels : nil
    }
}
