// SPDX-License-Identifier: Apache-2.0

package import PintleCoding

extension Fields {
    /// The codings that lie over the body, in the order in which they were applied; empty where there is none but
    /// `identity`.
    package func contentCodings() throws(ContentDecodingError) -> [ContentCoding] {
        try ContentCoding.codings(in: self.values(of: "Content-Encoding"))
    }

    /// Narrows the Accept-Encoding of a request, whose answer will have to be decoded, to codings that can be undone
    /// (RFC 9110 §12.5.3): weights stay, codings that nobody here knows go, and so does `*`; where nothing is left the
    /// value is `identity`. A request without the field stays without.
    package mutating func narrowAcceptEncoding() {
        let values = self.values(of: "Accept-Encoding")
        guard !values.isEmpty else { return }
        self.set("Accept-Encoding", ContentCoding.narrowed(accepting: values))
    }

    /// The last content coding that the body has, in lower case; nil where it has none but `identity`.
    var contentCoding: String? {
        var coding: String?
        self.forEachToken(in: .contentEncoding) { token in
            if !ASCII.equalsIgnoringCase(token, "identity".utf8) {
                coding = String(decoding: token.map(ASCII.lowercased), as: UTF8.self)
            }
        }
        return coding
    }
}
