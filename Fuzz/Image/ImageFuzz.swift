// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleImage
internal import PintleSerialization

/// Fuzzes images of up to a million pixels: the headers that are read before gdk-pixbuf sees the bytes, gdk-pixbuf's
/// decoding, and the readers of X bitmaps and animations.
///
/// If gdk-pixbuf is missing, the target fails: the run would test nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzImage(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let decoder else { fatalError("gdk-pixbuf is not installed: install libgdk-pixbuf-2.0-0") }
    let bytes = fuzzedBytes(data, count)
    if let size = try? decoder.check(bytes) {
        hold(size.width > 0 && size.height > 0, "an image has pixels: \(size)")
        hold(size.width * size.height <= decoder.pixelLimit, "an image is within its limit: \(size)")
    }
    let decoded = outcome { () throws(ImageError) in try decoder.decode(bytes, inflatingUpTo: .max) }
    let verdict = outcome { () throws(ImageError) in try decoder.decode(bytes, inflatingUpTo: 0).size }
    hold(decoded.map(\.size) == verdict, "an image is the same with pixels and without: \(decoded), \(verdict)")
    guard case .success(let image) = decoded, let pixels = image.pixels else { return 0 }
    for frame in pixels.frames {
        hold(frame.bitmap.size == image.size, "a frame has the image's size")
        hold(frame.bitmap.pixels.count == 4 * image.size.width * image.size.height, "a pixel has four bytes")
    }
    hold(
        pixels.frames.count * image.size.width * image.size.height <= decoder.pixelLimit,
        "all frames are within the limit: \(pixels.frames.count) of \(image.size)")
    return 0
}

private let decoder = try? ImageDecoder(pixelLimit: 1 << 20)
