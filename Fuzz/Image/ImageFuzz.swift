// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleImage
internal import PintleMessage

/// Images up to a million pixels: the headers that are read here before gdk-pixbuf sees the bytes, and what it makes of them.
///
/// Where gdk-pixbuf is missing there is nothing to fuzz, and that is a finding: the run would be empty.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzImage(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let decoder else { fatalError("gdk-pixbuf is not installed: install libgdk-pixbuf-2.0-0") }
    let bytes = fuzzedBytes(data, count)
    guard let size = try? decoder.check(bytes) else { return 0 }
    hold(size.width > 0 && size.height > 0, "an image has pixels: \(size)")
    hold(size.width * size.height <= decoder.pixelLimit, "an image is within its limit: \(size)")
    return 0
}

private let decoder = try? ImageDecoder(pixelLimit: 1 << 20)
