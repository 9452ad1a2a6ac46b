// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleMessage

/// Forms: what was read is written, and read again it has the same values under the same names.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzForm(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let form = fuzzedBytes(data, count)
    // Names of a form in Shift_JIS are read in another way, and slowly.
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
