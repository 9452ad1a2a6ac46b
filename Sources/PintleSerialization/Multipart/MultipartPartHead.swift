// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The values in the fields of one part of a form (RFC 7578 §4).
struct MultipartPartHead {
    /// The name in its sent bytes, without escapes.
    let name: [UInt8]
    /// The file name in its sent bytes, without escapes; nil if the part is not a file.
    let fileName: [UInt8]?
    /// The value of Content-Type.
    let type: String?
    /// The `charset` of Content-Type.
    let charset: String?

    /// True if the part names the charset of the other parts (RFC 7578 §4.6).
    var isCharset: Bool { self.fileName == nil && self.name.elementsEqual("_charset_".utf8) }

    /// Reads field lines.
    ///
    /// - Parameters:
    ///   - bytes: the lines without the final empty line, and without the end of the last one.
    ///   - number: the number of the part, from 1, for messages.
    /// - Throws: `.malformedBody` for a malformed field line, a repeated field of the ones read here, a disposition other
    ///   than `form-data` with a name, and a transfer encoding that would have to be decoded.
    init(_ bytes: ArraySlice<UInt8>, number: Int) throws(SerializationError) {
        let fields = try Self.fields(bytes, number: number)
        for name in ["Content-Disposition", "Content-Type", "Content-Transfer-Encoding"]
        where fields.values(of: name).count > 1 {
            throw Self.error(number, "has \(name) twice; send it once.")
        }
        (self.name, self.fileName) = try Self.names(fields, number: number)
        let coding = fields["Content-Transfer-Encoding"].map {
            String(decoding: $0.utf8.map(ASCII.folded), as: UTF8.self)
        }
        if let coding, !Self.plainCodings.contains(coding) {
            throw Self.error(number, "has a Content-Transfer-Encoding, which forms do not; send its bytes as they are.")
        }
        (self.type, self.charset) = try Self.type(fields, isFile: self.fileName != nil, number: number)
    }

    static func error(_ number: Int, _ problem: String) -> SerializationError {
        SerializationError(.malformedBody, "part \(number) of the form \(problem)")
    }

    /// The transfer encodings that leave bytes unchanged (RFC 2045 §6.2).
    private static let plainCodings: Set<String> = ["7bit", "8bit", "binary"]

    private static func fields(_ bytes: ArraySlice<UInt8>, number: Int) throws(SerializationError) -> Fields {
        var fields = Fields(reservingBytes: bytes.count + 2, lines: 4)
        do throws(WireError) {
            try (Array(bytes) + Array("\r\n".utf8)).withUnsafeBufferPointer { (all) throws(WireError) in
                var lines = LineReader(UnsafeRawBufferPointer(all))
                while !lines.rest.isEmpty { try fields.append(line: lines.next()) }
            }
        } catch {
            throw Self.error(number, "has a line that is no field: \(error.message); write “Name: value”.")
        }
        return fields
    }

    private static func names(
        _ fields: Fields, number: Int
    ) throws(SerializationError) -> (name: [UInt8], fileName: [UInt8]?) {
        var disposition: FieldParameters?
        fields.forEachLine { _, line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                ASCII.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: line[..<colon]), "content-disposition")
            else { return }
            let value = line[(colon + 2)...]
            // Browsers write a backslash as itself, so this reading is tried first: the other one would reduce two
            // backslashes to one.
            disposition =
                FieldParameters(value, quoting: .percent) ?? FieldParameters(value, quoting: .percentOrBackslash)
        }
        guard let disposition, disposition.value == "form-data" else {
            throw Self.error(
                number, "has no Content-Disposition that can be read; write “form-data; name=\"…\"”, a quote as %22.")
        }
        guard let name = disposition["name"] else {
            throw Self.error(number, "has no name; write “form-data; name=\"…\"”.")
        }
        guard disposition["filename"] != nil || disposition["filename*"] == nil else {
            throw Self.error(number, "has filename*, which forms do not (RFC 7578 §4.2); write “filename=\"…\"”.")
        }
        return (name, disposition["filename"])
    }

    private static func type(
        _ fields: Fields, isFile: Bool, number: Int
    ) throws(SerializationError) -> (type: String?, charset: String?) {
        guard let value = fields[.contentType], !value.isEmpty else { return (nil, nil) }
        if isFile { return (value, nil) }
        guard let parameters = FieldParameters(value.utf8, quoting: .backslash) else {
            throw Self.error(number, "has a Content-Type that cannot be read; write “type/subtype; charset=…”.")
        }
        guard !parameters.value.hasPrefix("multipart/") else {
            throw Self.error(number, "has parts of its own; send each as a part of the form (RFC 7578 §4.3).")
        }
        return (value, parameters["charset"].map { String(decoding: $0, as: UTF8.self) })
    }
}
