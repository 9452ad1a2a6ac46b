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

/// A generator with a seed (SplitMix64), so that a failure can be had again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
