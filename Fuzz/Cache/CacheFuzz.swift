// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleFuzzing
internal import PintleMessage

/// The form of stored responses on a disk: what is read is written with the same bytes again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCache(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    if let stored = StoredResponse(decoding: bytes) {
        hold(stored.encoded() == bytes, "one stored response has one form")
        hold(StoredResponse(decoding: stored.encoded()) == stored, "what is written is read again")
    }
    return 0
}
