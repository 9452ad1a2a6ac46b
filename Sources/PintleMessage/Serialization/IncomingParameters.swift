// SPDX-License-Identifier: Apache-2.0

/// The parameters that a request already carries in its body, for a route that adds its own.
public enum IncomingParameters {
    /// Reads the body of a request: a form (`application/x-www-form-urlencoded`) or JSON (`application/json`,
    /// `text/json`, `…+json`).
    ///
    /// - Returns: nil for an empty body, whatever its type.
    /// - Throws: `.unsupportedBody` for other types, a missing or repeated Content-Type and any content coding;
    ///   `.unknownEncoding` for a form's unknown charset; `.malformedBody` for a body that is not of its type, which
    ///   includes JSON that is neither array nor object.
    public static func read(_ head: RequestHead, body: [UInt8]) throws(SerializationError) -> Parameter? {
        guard !body.isEmpty else { return nil }
        if let coding = head.fields.contentCoding {
            throw SerializationError(
                .unsupportedBody,
                "the body is encoded with \(coding); parameters can be merged only into plain bodies.")
        }
        let types = head.fields.values(of: "Content-Type")
        guard types.count == 1 else {
            throw SerializationError(
                .unsupportedBody, types.isEmpty ? "the body has no Content-Type." : "the body has two Content-Types.")
        }
        let essence = MediaType.essence(of: types[0])
        if essence == "application/x-www-form-urlencoded" {
            return try Self.form(body, charset: MediaType.charset(of: types[0]))
        }
        guard MediaType.isJSON(essence) else {
            throw SerializationError(
                .unsupportedBody, "the body is \(essence); parameters can be merged only into forms and JSON.")
        }
        do throws(JSONSyntaxError) {
            return try JSONScanner().parse(body)
        } catch {
            throw SerializationError(.malformedBody, "the body is not valid JSON.", cause: error.description)
        }
    }

    /// Puts a route's parameters over incoming ones, key by key at the top level.
    ///
    /// Where both have a key the route's value stands, whole, in the place of the incoming one; incoming repetitions of
    /// the key vanish. The route's other keys follow. Keys are the same when their bytes are. Either side may be
    /// missing, and then the other is the result.
    ///
    /// - Throws: `.unmergeable` where both are there and one is no dictionary.
    public static func merge(_ incoming: Parameter?, with route: Parameter?) throws(SerializationError) -> Parameter? {
        guard let incoming else { return route }
        guard let route else { return incoming }
        guard case .dictionary(let old) = incoming, case .dictionary(let new) = route else {
            throw SerializationError(
                .unmergeable, "only dictionaries can be merged: the body and the route's parameters must both be one.")
        }
        var waiting: [[UInt8]: [Parameter.Entry]] = [:]
        for entry in new { waiting[Array(entry.key.utf8), default: []].append(entry) }
        var result: [Parameter.Entry] = []
        var placed: Set<[UInt8]> = []
        for entry in old {
            let key = Array(entry.key.utf8)
            guard let replacement = waiting[key] else {
                result.append(entry)
                continue
            }
            if placed.insert(key).inserted { result += replacement }
        }
        result += new.filter { !placed.contains(Array($0.key.utf8)) }
        return .dictionary(result)
    }

    /// `head` without the fields that describe the bytes of the body it came with, ready for a serializer to describe
    /// the new one: Content-Type, Content-Encoding, Content-Language and digests (RFC 9530).
    ///
    /// A serializer keeps a Content-Type that is there, so a form that becomes JSON needs this first.
    public static func headForNewBody(_ head: RequestHead) -> RequestHead {
        var head = head
        for name in [
            "Content-Type", "Content-Encoding", "Content-Language", "Content-MD5", "Content-Digest", "Repr-Digest",
            "Digest",
        ] { head.fields.remove(name) }
        return head
    }

    private static func form(_ body: [UInt8], charset: String?) throws(SerializationError) -> Parameter {
        guard let charset else { return try FormReader.read(body) }
        let encoding = try TextEncoding(charset)
        guard encoding.keepsASCII else {
            throw SerializationError(.unsupportedBody, "a form in \(encoding) cannot be read.")
        }
        return try FormReader.read(body, encoding: encoding)
    }
}
