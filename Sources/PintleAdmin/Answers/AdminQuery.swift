// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization

/// The parameters behind the question mark of a URL, decoded (RFC 3986 §2.1). The first of a name counts.
struct AdminQuery: Sendable {
    let parameters: [(name: String, value: String)]

    init(_ query: String) {
        self.parameters = query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
    }

    subscript(_ name: String) -> String? { self.parameters.first { $0.name == name }?.value }

    func values(of name: String) -> [String] { self.parameters.filter { $0.name == name }.map(\.value) }

    /// Reads the parameter `filter`.
    ///
    /// - Throws: the fault with its place, in Unicode scalars.
    func filter() throws(AdminGate.Refusal) -> ExchangeFilter {
        let text = self["filter"] ?? ""
        do throws(FilterError) {
            return try ExchangeFilter(text)
        } catch {
            throw AdminGate.Refusal(
                status: 400, title: "Not a filter", detail: error.reason,
                more: [("place", .integer(Int64(error.position)))])
        }
    }

    /// A wrong escape stands for itself, and bytes that are not UTF-8 become U+FFFD.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(Substring(rest.prefix(2))), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
