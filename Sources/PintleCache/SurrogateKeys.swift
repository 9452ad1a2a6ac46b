// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The keys by which an origin purges its responses: Cache-Tag, a list with commas, and Surrogate-Key, a list with spaces.
enum SurrogateKeys {
    /// The most keys of a response, and the longest key in bytes.
    static let countLimit = 256
    static let lengthLimit = 256
    /// The most members of both lists together, including repeated ones.
    static let memberLimit = 1024

    /// The keys, each once, in the order of their lines; compared byte by byte.
    ///
    /// - Returns: nil if there are more or longer keys than the limits, or one that is not visible ASCII: a purge would not
    ///   find the response.
    static func keys(in fields: Fields) -> [String]? {
        var keys: [String] = []
        var known: Set<String> = []
        var count = 0
        var isReadable = true
        func take(_ key: UnsafeRawBufferPointer) -> Bool {
            count += 1
            isReadable =
                count <= Self.memberLimit && key.count <= Self.lengthLimit && key.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
            guard isReadable else { return false }
            let text = String(decoding: key, as: UTF8.self)
            guard known.insert(text).inserted else { return true }
            keys.append(text)
            isReadable = keys.count <= Self.countLimit
            return isReadable
        }
        fields.forEachMember(of: "Cache-Tag", separatedBy: UInt8(ascii: ","), take)
        if isReadable { fields.forEachMember(of: "Surrogate-Key", separatedBy: 0x20, take) }
        return isReadable ? keys : nil
    }
}
