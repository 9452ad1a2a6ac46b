// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The keys by which an origin purges what it sent: Cache-Tag, a list with commas, and Surrogate-Key, one with spaces.
enum SurrogateKeys {
    /// The most keys of a response, and the most bytes of one.
    static let countLimit = 256
    static let lengthLimit = 256

    /// The keys, each once, in the order of their lines; compared byte by byte.
    ///
    /// - Returns: nil where there are more or longer ones than are kept, or one that is not visible ASCII: a purge
    ///   would not find the response.
    static func keys(in fields: Fields) -> [String]? {
        var keys: [String] = []
        var known: Set<String> = []
        var isReadable = true
        func take(_ key: some Collection<UInt8>) {
            guard isReadable, !key.isEmpty else { return }
            guard key.count <= Self.lengthLimit, key.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
                isReadable = false
                return
            }
            let text = String(decoding: key, as: UTF8.self)
            guard known.insert(text).inserted else { return }
            isReadable = keys.count < Self.countLimit
            keys.append(text)
        }
        fields.forEachValue(of: "Cache-Tag") { value in
            for member in value.split(separator: UInt8(ascii: ",")) { take(ASCII.trimmed(member)) }
        }
        fields.forEachValue(of: "Surrogate-Key") { value in
            for member in value.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }) { take(member) }
        }
        return isReadable ? keys : nil
    }
}
