// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleSerialization

/// Fuzzes forms: the values read from one are written, and read back with the same names.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzForm(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let form = fuzzedBytes(data, count)
    // Names of a form in Shift_JIS are read by other code, which is slow.
    for charset in count & 7 == 0 ? ["", "; charset=shift_jis"] : [""] {
        let read = outcome { () throws(SerializationError) in try fuzzedParameters(of: form, formType + charset) }
        guard let value = try? read.get() else { continue }
        let query = outcome { () throws(SerializationError) in try QueryString.encode(value) }
        guard let text = try? query.get() else { fatalError("what was read has no query: \(query)") }
        let again = outcome { () throws(SerializationError) in try fuzzedParameters(of: Array(text.utf8), formType) }
        guard let same = try? again.get() else {
            hold(text.isEmpty, "a query is a form: \(again) for \(text)")
            continue
        }
        hold(flatPairs(of: same) == flatPairs(of: value), "the query \(text) has the values of \(value)")
        hold((try? IncomingParameters.merge(value, with: value)) != nil, "dictionaries can be merged: \(value)")
    }
    return 0
}

private let formType = "application/x-www-form-urlencoded"
