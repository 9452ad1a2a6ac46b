// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Request fields that can change the response to a URL without being named in Vary.
///
/// Frameworks take the method, the path or the host of a request from them. If the response were stored under the plain URL,
/// the client could answer others in the origin's name; so these requests bypass the cache for reading and storing. So do
/// requests with Upgrade, because their responses switch to another protocol.
package enum UnkeyedFields {
    private static let names = [
        "forwarded", "front-end-https", "upgrade", "x-forwarded-host", "x-forwarded-path", "x-forwarded-port",
        "x-forwarded-prefix", "x-forwarded-proto", "x-forwarded-protocol", "x-forwarded-scheme", "x-forwarded-server",
        "x-forwarded-ssl", "x-forwarded-uri", "x-host", "x-http-method", "x-http-method-override", "x-method-override",
        "x-original-host", "x-original-uri", "x-original-url", "x-proxy-url", "x-rewrite-uri", "x-rewrite-url",
        "x-url-scheme",
    ]

    /// The first such field of a request, in lower case; nil if there is none.
    package static func first(in fields: Fields) -> String? {
        var found: String?
        fields.forEachLine { known, line in
            guard found == nil, known == .other || known == .forwarded || known == .upgrade else { return }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            guard let first = name.first.map(Self.folded), name.count <= 24, name.count >= 6 else { return }
            found = Self.names.first { text in
                let bytes = text.utf8
                return bytes.count == name.count && bytes.first == first
                    && zip(bytes, name).allSatisfy { $0 == Self.folded($1) }
            }
        }
        return found
    }

    /// CGI and its successors read `X_Forwarded_Host` as `X-Forwarded-Host`.
    private static func folded(_ byte: UInt8) -> UInt8 {
        byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : ASCII.lowercased(byte)
    }
}
