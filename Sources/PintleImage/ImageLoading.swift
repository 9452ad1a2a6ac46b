// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The decoding of one image by a `GdkPixbufLoader`. A class, because the callback has a pointer to it.
final class ImageLoading {
    /// The maximum number of bytes that are given to the loader at once; after each piece its errors and the budget are
    /// checked.
    private static let longestStride = 64 * 1024
    /// The number of bytes at once before the size is known, and for the largest images: a few bytes may cause another pass
    /// over all pixels.
    private static let shortestStride = 256
    /// The number of pixels for which a pass is cheap enough that pieces have the maximum size.
    private static let pixelsAtOnce = 1 << 20

    private let library: PixbufLibrary
    private let format: ImageFormat
    private let pixelLimit: Int
    private let budget: WorkBudget
    private var stride = ImageLoading.shortestStride
    /// Returns the memory of an image of a size; nil if its scans process the pixels too often.
    private var memory: (ImageSize) -> Int? = { _ in nil }
    /// The error if the announced image is too large.
    private var refused: ImageError?

    init(_ library: PixbufLibrary, _ format: ImageFormat, pixelLimit: Int, within budget: WorkBudget) {
        self.library = library
        self.format = format
        self.pixelLimit = pixelLimit
        self.budget = budget
    }

    func size(of bytes: [UInt8]) throws(ImageError) -> ImageSize {
        try self.load(bytes) { picture throws(ImageError) in self.size(of: picture) }
    }

    /// Loads a picture, and copies its pixels unless there are more than `ceiling`.
    func decode(_ bytes: [UInt8], inflatingUpTo ceiling: Int) throws(ImageError) -> DecodedImage {
        let pixelLimit = self.pixelLimit
        return try self.load(bytes) { picture throws(ImageError) in
            let size = self.size(of: picture)
            // This should be the announced size, but memory is allocated by it.
            try size.check(limit: pixelLimit)
            guard !size.isOver(ceiling) else { return DecodedImage(size: size, pixels: nil) }
            guard let bitmap = self.bitmap(of: picture, size) else {
                throw ImageError(
                    .undecodable, "gdk-pixbuf has made pixels of the \(self.format) image that are not RGB")
            }
            let orientation = self.library.option(picture, "orientation").flatMap { Int(String(cString: $0)) }
            return DecodedImage(
                size: size,
                pixels: ImagePixels(
                    frames: [ImagePixels.Frame(bitmap: bitmap)],
                    orientation: orientation.flatMap(ImageOrientation.init) ?? .up))
        }
    }

    /// - Parameter take: receives the picture, which is valid until the closure returns.
    private func load<Result>(
        _ bytes: [UInt8], _ take: (OpaquePointer) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        var made: PixbufLibrary.Loader?
        let problem = self.library.errorText { made = self.library.makeLoader(self.format.rawValue, $0) }
        guard let loader = made else {
            throw ImageError(
                .unavailable, "gdk-pixbuf cannot load \(self.format) images: \(problem ?? "no reason given")")
        }
        defer { self.library.release(loader) }
        // The callback runs only during the calls below, while `self` is alive.
        _ = self.library.connect(
            loader, "size-prepared", Self.sizePrepared, Unmanaged.passUnretained(self).toOpaque(), nil, 0)
        let (format, pixelLimit) = (self.format, self.pixelLimit)
        self.memory = { format.memory(of: $0, in: bytes, pixelLimit: pixelLimit) }
        let failure = self.feed(bytes, to: loader)
        // A loader must be closed before it is released. After an error, closing does nothing.
        let atEnd = self.library.errorText { _ = self.library.close(loader, $0) }
        if let refused { throw refused }
        guard failure == nil, atEnd == nil, let picture = self.library.pixbuf(loader) else {
            let reason = failure ?? atEnd ?? "no picture"
            throw ImageError(.undecodable, "the \(self.format) image cannot be decoded: \(reason)")
        }
        return try take(picture)
    }

    private func size(of picture: OpaquePointer) -> ImageSize {
        ImageSize(width: Int(self.library.width(picture)), height: Int(self.library.height(picture)))
    }

    /// Returns a copy of a picture's pixels. They have three or four bytes, and rows may be padded.
    private func bitmap(of picture: OpaquePointer, _ size: ImageSize) -> Bitmap? {
        let channels = Int(self.library.channelCount(picture))
        let stride = Int(self.library.rowStride(picture))
        guard let source = self.library.readPixels(picture), channels == 3 || channels == 4,
            self.library.bitsPerSample(picture) == 8, size.width > 0, size.height > 0, stride >= size.width * channels
        else { return nil }
        let count = size.width * size.height * Bitmap.bytesPerPixel
        let pixels = [UInt8](unsafeUninitializedCapacity: count) { target, written in
            var place = 0
            for row in 0..<size.height {
                var pixel = source + row * stride
                for _ in 0..<size.width {
                    target[place] = pixel[0]
                    target[place + 1] = pixel[1]
                    target[place + 2] = pixel[2]
                    target[place + 3] = channels == 4 ? pixel[3] : .max
                    place += Bitmap.bytesPerPixel
                    pixel += channels
                }
            }
            written = place
        }
        return Bitmap(size: size, pixels: pixels)
    }

    /// Gives the bytes to the loader.
    ///
    /// - Returns: the loader's error.
    private func feed(_ bytes: [UInt8], to loader: PixbufLibrary.Loader) -> String? {
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, self.refused == nil, self.budget.inspect() {
                let piece = UnsafeBufferPointer(rebasing: rest.prefix(self.stride))
                rest = rest.dropFirst(piece.count)
                let problem = self.library.errorText {
                    _ = self.library.write(loader, piece.baseAddress, piece.count, $0)
                }
                if let problem { return problem }
            }
            return nil
        }
    }

    private static let sizePrepared: PixbufLibrary.SizeCallback = { loader, width, height, context in
        guard let context else { return }
        let loading = Unmanaged<ImageLoading>.fromOpaque(context).takeUnretainedValue()
        loading.judge(ImageSize(width: Int(width), height: Int(height)), of: loader)
    }

    private func judge(_ size: ImageSize, of loader: PixbufLibrary.Loader) {
        do throws(ImageError) {
            try size.check(limit: self.pixelLimit)
            guard let memory = self.memory(size) else {
                throw ImageError(
                    .tooLarge, "its scans go over \(size.width) × \(size.height) pixels more often than is accepted")
            }
            guard self.budget.reserve(memory) else {
                throw ImageError(.tooLarge, "there is no memory for \(size.width) × \(size.height) pixels")
            }
            let pixels = max(1, size.width * size.height)
            self.stride = min(
                Self.longestStride, max(Self.shortestStride, Self.longestStride / max(1, pixels / Self.pixelsAtOnce)))
        } catch {
            self.refused = error
            // A size of zero makes every loader stop.
            self.library.setSize(loader, 0, 0)
        }
    }
}

extension ImageSize {
    func isOver(_ pixelLimit: Int) -> Bool {
        let (pixels, isBeyond) = self.width.multipliedReportingOverflow(by: self.height)
        return isBeyond || pixels > pixelLimit
    }

    /// - Throws: `.tooLarge` if there are more pixels than `limit`.
    func check(limit: Int) throws(ImageError) {
        guard self.isOver(limit) else { return }
        throw ImageError(
            .tooLarge, "\(self.width) × \(self.height) pixels are more than the \(limit) that are accepted")
    }
}
