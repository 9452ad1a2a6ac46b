// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Conversion of host names with letters of other scripts.
///
/// libidn2 converts them to A-labels, as it does for libcurl, which depends on it. It is opened at the first use. libcurl's
/// own interface reads names in the encoding of the locale, and Foundation's needs tables that the program is linked
/// without.
package enum InternationalName {
    private typealias ToASCII =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, CInt
        ) -> CInt

    /// `IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL`, the mapping of UTS #46 that browsers and libcurl use.
    private static let mapping: CInt = 1 | 8

    /// libidn2's function; nil if the library is missing. The library is never closed.
    private static let toASCII: ToASCII? = {
        guard let handle = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL),
            let function = dlsym(handle, "idn2_to_ascii_8z")
        else { return nil }
        // The function's type is that of idn2.h, which all versions of libidn2.so.0 keep.
        return unsafeBitCast(function, to: ToASCII.self)
    }()

    /// Returns the name in A-labels (RFC 9525 §6.3, RFC 5891 §4.4); nil if it is no name, or libidn2 is missing.
    package static func aLabels(_ host: String) -> String? {
        guard let toASCII = self.toASCII else { return nil }
        var text: UnsafeMutablePointer<CChar>?
        guard toASCII(host, &text, self.mapping) == 0, let text else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
