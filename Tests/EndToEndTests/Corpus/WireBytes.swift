// SPDX-License-Identifier: Apache-2.0

/// Bytes on the wire, written as text: each character up to U+00FF is the byte of that number.
///
/// `$` is replaced by the authority of the case's origin, and `£` by its port.
struct WireBytes: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    let text: String
    var description: String { self.text }

    init(stringLiteral text: String) { self.text = text }
    init(_ text: String) { self.text = text }

    /// The bytes, for an origin on `port` of this machine.
    func bytes(originPort port: Int) -> [UInt8] {
        self.text.replacing("$", with: "127.0.0.1:\(port)").replacing("£", with: "\(port)").unicodeScalars
            .map { UInt8(truncatingIfNeeded: $0.value) }
    }

    static func + (left: WireBytes, right: WireBytes) -> WireBytes { WireBytes(left.text + right.text) }
}

/// Returns bytes as text in which invisible ones can be seen.
func shown(_ bytes: some Collection<UInt8>) -> String {
    var result = ""
    for byte in bytes.prefix(1500) {
        switch byte {
        case 0x0D: result += "\\r"
        case 0x0A: result += "\\n\n"
        case 0x20...0x7E: result.unicodeScalars.append(Unicode.Scalar(byte))
        default: result += "\\x\(String(byte, radix: 16))"
        }
    }
    return bytes.count > 1500 ? "\(result)… (\(bytes.count) bytes)" : result
}
