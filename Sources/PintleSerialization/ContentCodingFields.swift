// SPDX-License-Identifier: Apache-2.0

package import PintleCoding
package import PintleMessage

extension Fields {
    /// Returns the content codings of the body in the order in which they were applied; empty if there is none but
    /// `identity`.
    package func contentCodings() throws(ContentDecodingError) -> [ContentCoding] {
        try ContentCoding.codings(in: self.values(of: "Content-Encoding"))
    }

    /// Narrows the Accept-Encoding of a request to codings that can be decoded here (RFC 9110 §12.5.3), for a response that
    /// will have to be decoded. Weights stay; unknown codings and `*` are removed; if nothing is left, the value is
    /// `identity`. A request without the field stays unchanged.
    package mutating func narrowAcceptEncoding() {
        let values = self.values(of: "Accept-Encoding")
        guard !values.isEmpty else { return }
        self.set("Accept-Encoding", ContentCoding.narrowed(accepting: values))
    }

    /// The last content coding of the body in lower case; nil if there is none but `identity`.
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
