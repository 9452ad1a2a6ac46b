// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSerialization

/// The functions of gdk-pixbuf, which is loaded when the first decoder is created.
///
/// If it were linked, every process would load GLib and a dozen more libraries at start, though few ever decode an image.
/// So no headers are used either: the types below repeat the C declarations, with opaque pointers.
struct PixbufLibrary: Sendable {
    typealias Loader = OpaquePointer
    /// `GError **`: the place to which a function writes its error.
    typealias ErrorPlace = UnsafeMutablePointer<UnsafeMutableRawPointer?>
    typealias SizeCallback = @convention(c) (Loader, Int32, Int32, UnsafeMutableRawPointer?) -> Void

    let makeLoader: @convention(c) @Sendable (UnsafePointer<CChar>, ErrorPlace?) -> Loader?
    let write: @convention(c) @Sendable (Loader, UnsafePointer<UInt8>?, Int, ErrorPlace?) -> Int32
    let close: @convention(c) @Sendable (Loader, ErrorPlace?) -> Int32
    let pixbuf: @convention(c) @Sendable (Loader) -> OpaquePointer?
    let setSize: @convention(c) @Sendable (Loader, Int32, Int32) -> Void
    let width: @convention(c) @Sendable (OpaquePointer) -> Int32
    let height: @convention(c) @Sendable (OpaquePointer) -> Int32
    let readPixels: @convention(c) @Sendable (OpaquePointer) -> UnsafePointer<UInt8>?
    let rowStride: @convention(c) @Sendable (OpaquePointer) -> Int32
    let channelCount: @convention(c) @Sendable (OpaquePointer) -> Int32
    let bitsPerSample: @convention(c) @Sendable (OpaquePointer) -> Int32
    let option: @convention(c) @Sendable (OpaquePointer, UnsafePointer<CChar>) -> UnsafePointer<CChar>?
    let connect:
        @convention(c) @Sendable (
            Loader, UnsafePointer<CChar>, SizeCallback, UnsafeMutableRawPointer?, UnsafeRawPointer?, UInt32
        ) -> UInt
    let release: @convention(c) @Sendable (Loader) -> Void
    let freeError: @convention(c) @Sendable (UnsafeMutableRawPointer) -> Void

    /// The library of the system, or the reason why it cannot be used.
    static let system = Result<PixbufLibrary, ImageError> { () throws(ImageError) in
        try PixbufLibrary(named: "libgdk_pixbuf-2.0.so.0")
    }

    /// - Throws: `.unavailable` if the library is not installed, or lacks one of the functions.
    init(named name: String) throws(ImageError) {
        // Never closed, because GLib cannot be unloaded.
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw ImageError(
                .unavailable,
                "images are decoded with gdk-pixbuf, which is not installed (Debian: libgdk-pixbuf-2.0-0): "
                    + "there is no \(name)")
        }
        func function<Function>(_ symbol: String, _: Function.Type = Function.self) throws(ImageError) -> Function {
            guard let address = dlsym(handle, symbol) else {
                throw ImageError(.unavailable, "\(name) has no function \(symbol)")
            }
            // A function pointer has the size of a word, and each type repeats the C declaration.
            return unsafeBitCast(address, to: Function.self)
        }
        self.makeLoader = try function("gdk_pixbuf_loader_new_with_type")
        self.write = try function("gdk_pixbuf_loader_write")
        self.close = try function("gdk_pixbuf_loader_close")
        self.pixbuf = try function("gdk_pixbuf_loader_get_pixbuf")
        self.setSize = try function("gdk_pixbuf_loader_set_size")
        self.width = try function("gdk_pixbuf_get_width")
        self.height = try function("gdk_pixbuf_get_height")
        self.readPixels = try function("gdk_pixbuf_read_pixels")
        self.rowStride = try function("gdk_pixbuf_get_rowstride")
        self.channelCount = try function("gdk_pixbuf_get_n_channels")
        self.bitsPerSample = try function("gdk_pixbuf_get_bits_per_sample")
        self.option = try function("gdk_pixbuf_get_option")
        self.connect = try function("g_signal_connect_data")
        self.release = try function("g_object_unref")
        self.freeError = try function("g_error_free")
    }

    /// Calls `body` with a place for an error, and returns a text for the error in Pintle's words; nil if there was none.
    func errorText(_ body: (ErrorPlace) -> Void) -> String? {
        var error: UnsafeMutableRawPointer?
        body(&error)
        guard let error else { return nil }
        defer { self.freeError(error) }
        // A GError consists of a 32-bit domain, a C int with the code, and a text in the language of the machine.
        return Self.words(for: error.load(fromByteOffset: 4, as: Int32.self))
    }

    /// Returns words for a code of `GdkPixbufError`, the only domain that occurs if loaders read from memory.
    private static func words(for code: Int32) -> String {
        switch code {
        case 1: "out of memory"
        case 3: "this gdk-pixbuf lacks the format"
        case 2, 4: "it uses what this gdk-pixbuf does not support"
        default: "its data are corrupt"
        }
    }
}
