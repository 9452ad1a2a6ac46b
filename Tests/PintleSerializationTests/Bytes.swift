// SPDX-License-Identifier: Apache-2.0

import PintleMessage

/// The bytes of a text, and the text of bytes: most documents in these tests are easier to read as text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

/// A request to a gateway.
func request(_ method: String, _ path: String = "/", _ fields: Fields = [:]) -> RequestHead {
    RequestHead(method: method, target: .origin(path: path), fields: fields)
}

/// A response with the given status and media type.
func response(_ status: UInt16, _ type: String? = nil) -> ResponseHead {
    var fields = Fields()
    if let type { fields.append("Content-Type", type) }
    return ResponseHead(status: status, fields: fields)
}
