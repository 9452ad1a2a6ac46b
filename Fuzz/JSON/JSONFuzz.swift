// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleSerialization

/// Fuzzes JSON: one verdict for a document whole and in pieces, and values that are written read back the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let document = fuzzedBytes(data, count)
    let scanner = JSONScanner(fragmentsAllowed: count & 1 == 0)
    let whole = outcome { () throws(JSONSyntaxError) in try scanner.validate(document) }
    let inPieces = outcome { () throws(JSONSyntaxError) in
        var validator = JSONValidator(scanner)
        for piece in document.pieces { try validator.take(piece) }
        try validator.finish()
    }
    let parsed = outcome { () throws(JSONSyntaxError) in try scanner.parse(document) }
    let stripped = outcome { () throws(JSONSyntaxError) in try scanner.removingNulls(from: document) }
    switch whole {
    case .failure(let error):
        hold(inPieces.failure == error, "pieces have the error of the whole: \(inPieces), not \(error)")
        hold(parsed.failure == error, "parse has the error of validate: \(parsed), not \(error)")
        hold(stripped.failure == error, "null removal has the error of validate: \(stripped), not \(error)")
    case .success:
        hold(inPieces.failure == nil, "pieces are valid as the whole is: \(inPieces)")
        guard let value = try? parsed.get() else { fatalError("a valid document was not read: \(parsed)") }
        checkWriting(value)
        if let result = try? stripped.get() { checkStripped(result, scanner) }
        // The other formats either have a form for a value or refuse it.
        _ = try? QueryString.encode(value)
        _ = try? MultipartForm(parameters: value)
    }
    return 0
}

private func checkWriting(_ value: Parameter) {
    for options: JSONWriter.Options in [.fragmentsAllowed, [.fragmentsAllowed, .pretty]] {
        let written = outcome { () throws(SerializationError) in try JSONWriter.write(value, options: options) }
        guard let bytes = try? written.get() else { fatalError("what was read cannot be written: \(written)") }
        let again = outcome { () throws(JSONSyntaxError) in try JSONScanner(fragmentsAllowed: true).parse(bytes) }
        hold((try? again.get()) == value, "what was written reads back the same: \(again), not \(value)")
    }
}

private func checkStripped(_ bytes: [UInt8], _ scanner: JSONScanner) {
    let again = outcome { () throws(JSONSyntaxError) in try scanner.removingNulls(from: bytes) }
    guard case .success(let rest) = again else { fatalError("without its nulls it is no JSON: \(again)") }
    hold(rest == nil, "no null is left after their removal")
}
