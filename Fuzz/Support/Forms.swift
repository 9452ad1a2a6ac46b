// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintleSerialization

/// The parameters in the body of a request.
package func fuzzedParameters(of body: [UInt8], _ contentType: String) throws(SerializationError) -> Parameter? {
    let head = RequestHead(method: "POST", target: .origin(path: "/"), fields: ["Content-Type": contentType])
    return try IncomingParameters.read(head, body: body)
}

/// The values with their flat names, in an order that does not depend on the value's own: a query sorts dictionaries by key
/// and sets by text. Bytes are compared, because two spellings of one character are two names.
package func flatPairs(of value: Parameter) -> [[UInt8]] {
    guard let pairs = try? QueryString.pairs(of: value) else { fatalError("what was read has no pairs: \(value)") }
    return pairs.map { pair in
        let name = Array("\(pair.name)\0".utf8)
        switch pair.value {
        case .null: return name
        case .file(let file): return name + "file \(file.fileName)\0\(file.mediaType)\0".utf8 + file.bytes
        // Bytes that are not text in the charset of their form may be text without it.
        case .data(let bytes): return name + "text ".utf8 + bytes
        default: return name + "text \(pair.value.text ?? "")".utf8
        }
    }.sorted { $0.lexicographicallyPrecedes($1) }
}
