// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleSerialization

/// Fuzzes multipart forms: bodies with a known boundary, and whole messages whose first line is their Content-Type. The
/// values read from one are written, and read back the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMultipart(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var body = fuzzedBytes(data, count)
    var contentType = "multipart/form-data; boundary=pintle"
    if body.starts(with: "multipart".utf8) {
        let (first, rest) = body.split(at: UInt8(ascii: "\n"))
        (contentType, body) = (String(decoding: first, as: UTF8.self), rest)
        // Other types, such as multipart/x+json, are no forms.
        guard MediaType.essence(of: contentType) == "multipart/form-data" else { return 0 }
    }
    let read = outcome { () throws(SerializationError) in try fuzzedParameters(of: body, contentType) }
    guard let value = try? read.get() else { return 0 }
    let made = outcome { () throws(SerializationError) in try MultipartForm(parameters: value) }
    guard let form = try? made.get() else { fatalError("what was read cannot be written: \(made)") }
    var written: [UInt8] = []
    for case .bytes(let bytes) in form.segments { written += bytes }
    hold(form.contentLength == UInt64(written.count), "the length of a form is that of its bytes")
    checkReading(written, form.contentType, value)
    // Files have no form in these formats; all other values have.
    _ = try? QueryString.encode(value)
    _ = try? JSONWriter.write(value)
    return 0
}

private func checkReading(_ written: [UInt8], _ contentType: String, _ value: Parameter) {
    let again = outcome { () throws(SerializationError) in try fuzzedParameters(of: written, contentType) }
    let pairs = flatPairs(of: value)
    // Quotes and line ends in names are percent-encoded, but the percent sign itself is not, by the rules of the WHATWG.
    let escapes = ["%22", "%0D", "%0A"]
    guard pairs.allSatisfy({ pair in escapes.allSatisfy { !String(decoding: pair, as: UTF8.self).contains($0) } })
    else { return }
    guard let same = try? again.get() else {
        hold(written.isEmpty, "what was written can be read: \(again)")
        return
    }
    hold(flatPairs(of: same) == pairs, "\(value) reads back the same, not as \(same)")
}
