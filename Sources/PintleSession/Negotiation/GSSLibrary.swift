// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// MIT's library for the Generic Security Service API (RFC 2744), which implements Kerberos; optional on a machine. It
/// is opened at its first use, and never closed.
struct GSSLibrary: Sendable {
    /// A length and a pointer, like C's `gss_buffer_desc`.
    struct Buffer {
        var length = 0
        var value: UnsafeMutableRawPointer?
    }

    /// An object identifier, like C's `gss_OID_desc`. It is never freed.
    // Why @unchecked holds: the memory behind the pointer is written once, in `init`.
    struct Identifier: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer

        /// - Parameter bytes: the identifier in DER, without tag and length.
        init(_ bytes: [UInt8]) {
            let elements = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            elements.copyBytes(from: bytes)
            self.pointer = .allocate(byteCount: 16, alignment: 8)
            self.pointer.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
            self.pointer.storeBytes(of: elements.baseAddress, toByteOffset: 8, as: UnsafeMutableRawPointer?.self)
        }

        /// 1.3.6.1.5.5.2: SPNEGO (RFC 4178), the mechanism of Negotiate.
        static let negotiation = Identifier([0x2B, 6, 1, 5, 5, 2])
        /// 1.2.840.113554.1.2.1.4: a name of the form `service@host`.
        static let service = Identifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 1, 2, 1, 4])
    }

    typealias Minor = UnsafeMutablePointer<UInt32>
    typealias Place = UnsafeMutablePointer<OpaquePointer?>

    /// `gss_import_name`, `gss_release_name`.
    let importName: @convention(c) (Minor, UnsafeMutableRawPointer, UnsafeMutableRawPointer, Place) -> UInt32
    let releaseName: @convention(c) (Minor, Place) -> UInt32
    /// `gss_init_sec_context`: credential, context, name, mechanism, flags, lifetime, bindings, input, actual
    /// mechanism, output, granted flags, granted lifetime.
    let initContext:
        @convention(c) (
            Minor, OpaquePointer?, Place, OpaquePointer?, UnsafeMutableRawPointer, UInt32, UInt32,
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer,
            UnsafeMutablePointer<UInt32>?, UnsafeMutablePointer<UInt32>?
        ) -> UInt32
    /// `gss_delete_sec_context`.
    let deleteContext: @convention(c) (Minor, Place, UnsafeMutableRawPointer?) -> UInt32
    /// `gss_release_buffer`.
    let releaseBuffer: @convention(c) (Minor, UnsafeMutableRawPointer) -> UInt32
    /// `gss_display_status`: value, kind, mechanism, place in the message, text.
    let displayStatus:
        @convention(c) (
            Minor, UInt32, Int32, UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt32>, UnsafeMutableRawPointer
        ) -> UInt32

    private static let file = "libgssapi_krb5.so.2"
    /// The advice if the library is missing.
    static let missing =
        "\(GSSLibrary.file) is missing, which Negotiate needs for Kerberos; install libgssapi-krb5-2 (Debian, Ubuntu) or "
        + "krb5-libs (Fedora)"

    /// The library; nil if the machine does not have it.
    static let shared = GSSLibrary()

    private init?() {
        guard let library = dlopen(Self.file, RTLD_NOW | RTLD_LOCAL),
            let importName = dlsym(library, "gss_import_name"), let releaseName = dlsym(library, "gss_release_name"),
            let initContext = dlsym(library, "gss_init_sec_context"),
            let deleteContext = dlsym(library, "gss_delete_sec_context"),
            let releaseBuffer = dlsym(library, "gss_release_buffer"),
            let displayStatus = dlsym(library, "gss_display_status")
        else { return nil }
        // A function pointer is a word; the types are those of the C declarations.
        func cast<Function>(_ symbol: UnsafeMutableRawPointer) -> Function {
            unsafeBitCast(symbol, to: Function.self)
        }
        self.importName = cast(importName)
        self.releaseName = cast(releaseName)
        self.initContext = cast(initContext)
        self.deleteContext = cast(deleteContext)
        self.releaseBuffer = cast(releaseBuffer)
        self.displayStatus = cast(displayStatus)
    }

    // MARK: Calls

    /// Returns the failure in the words of the library and of Kerberos.
    func words(major: UInt32, minor: UInt32) -> String {
        let texts = [self.text(of: major, kind: 1), self.text(of: minor, kind: 2)].filter { !$0.isEmpty }
        return texts.joined(separator: ": ")
    }

    private func text(of status: UInt32, kind: Int32) -> String {
        guard status != 0 else { return "" }
        var (minor, place): (UInt32, UInt32) = (0, 0)
        var buffer = Buffer()
        guard self.displayStatus(&minor, status, kind, nil, &place, &buffer) == 0 else { return "" }
        return String(decoding: self.taken(&buffer), as: UTF8.self)
    }

    /// Copies the bytes of one of the library's buffers, and releases the buffer.
    func taken(_ buffer: inout Buffer) -> [UInt8] {
        defer {
            var minor: UInt32 = 0
            _ = self.releaseBuffer(&minor, &buffer)
        }
        guard let start = buffer.value else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: buffer.length))
    }
}
