// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// One image on its way through a `GdkPixbufLoader`. An object, because the callback has a pointer to it.
final class ImageLoading {
    /// How much is given to the loader before it is asked how it goes.
    private static let stride = 64 * 1024

    private let library: PixbufLibrary
    private let format: ImageFormat
    private let pixelLimit: Int
    /// What was announced, when it is too much.
    private var refused: ImageSize?

    init(_ library: PixbufLibrary, _ format: ImageFormat, pixelLimit: Int) {
        self.library = library
        self.format = format
        self.pixelLimit = pixelLimit
    }

    func size(of bytes: [UInt8]) throws(ImageError) -> ImageSize {
        var made: PixbufLibrary.Loader?
        let problem = self.library.errorText { made = self.library.makeLoader(self.format.rawValue, $0) }
        guard let loader = made else {
            throw ImageError(
                .unavailable, "gdk-pixbuf cannot load \(self.format) images: \(problem ?? "no reason given")")
        }
        defer { self.library.release(loader) }
        // The callback runs only within the calls below, while `self` is alive.
        _ = self.library.connect(
            loader, "size-prepared", Self.sizePrepared, Unmanaged.passUnretained(self).toOpaque(), nil, 0)
        let failure = self.feed(bytes, to: loader)
        // A loader must be closed before it is let go, even after an error, when closing does nothing.
        let atEnd = self.library.errorText { _ = self.library.close(loader, $0) }
        try self.refused?.check(limit: self.pixelLimit)
        guard failure == nil, atEnd == nil, let picture = self.library.pixbuf(loader) else {
            let reason = failure ?? atEnd ?? "no picture"
            throw ImageError(.undecodable, "the \(self.format) image cannot be decoded: \(reason)")
        }
        return ImageSize(width: Int(self.library.width(picture)), height: Int(self.library.height(picture)))
    }

    /// - Returns: what the loader finds wrong.
    private func feed(_ bytes: [UInt8], to loader: PixbufLibrary.Loader) -> String? {
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, self.refused == nil {
                let piece = UnsafeBufferPointer(rebasing: rest.prefix(Self.stride))
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
        guard size.isOver(self.pixelLimit) else { return }
        self.refused = size
        // A size of nothing makes every loader stop here.
        self.library.setSize(loader, 0, 0)
    }
}

extension ImageSize {
    func isOver(_ pixelLimit: Int) -> Bool {
        let (pixels, isBeyond) = self.width.multipliedReportingOverflow(by: self.height)
        return isBeyond || pixels > pixelLimit
    }

    /// - Throws: `.tooLarge` where there are more pixels than `limit`.
    func check(limit: Int) throws(ImageError) {
        guard self.isOver(limit) else { return }
        throw ImageError(
            .tooLarge, "\(self.width) × \(self.height) pixels are more than the \(limit) that are accepted")
    }
}
