// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Names directly below which registries give names to the public, for example `com` or `co.uk`.
///
/// A single label is one. Longer names are looked up in libpsl if the system has it: the list changes weekly, and the
/// distribution updates it. The library is opened at the first use.
///
/// The list's private section does not count: the operator of `github.io` holds the key for all names below it, and such
/// services work by a wildcard.
package enum PublicSuffixes {
    private typealias Builtin = @convention(c) () -> OpaquePointer?
    private typealias IsPublicSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, CInt) -> CInt

    /// `PSL_TYPE_ICANN`: the section of the registries.
    private static let registries: CInt = 1
    /// `PSL_TYPE_ANY`: both sections.
    private static let anySection: CInt = 3

    /// The library's list and its lookup function; nil if the library is missing. The list is static memory of the library,
    /// which is never closed, and is only read.
    private nonisolated(unsafe) static let library: (list: OpaquePointer, ask: IsPublicSuffix)? = {
        guard let handle = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL), let builtin = dlsym(handle, "psl_builtin"),
            let question = dlsym(handle, "psl_is_public_suffix2"),
            let list = unsafeBitCast(builtin, to: Builtin.self)()
        else { return nil }
        return (list, unsafeBitCast(question, to: IsPublicSuffix.self))
    }()

    /// True if the machine has the list. Without it, a wildcard before `co.uk` is treated like one before a company's name.
    package static var areKnown: Bool { self.library != nil }

    /// The warning about a missing list.
    package static let missing =
        "libpsl.so.5 is missing, and with it the list of public suffixes: a certificate for *.co.uk passes for every host "
        + "right below co.uk; install libpsl5"

    /// True if strangers have names below `name`, also by the list's private section: no cookie may be set for all of them.
    ///
    /// - Parameter name: a DNS name in ASCII.
    package static func isShared(_ name: String) -> Bool {
        guard name.contains(".") else { return name != "localhost" }
        guard let library = self.library else { return false }
        return library.ask(library.list, name, self.anySection) != 0
    }

    /// True if registries give names to the public directly below `name`.
    ///
    /// - Parameter name: a DNS name in ASCII.
    static func contains(_ name: [UInt8]) -> Bool {
        guard name.contains(ASCIIByte.dot) else { return true }
        guard let library = self.library else { return false }
        let text = String(decoding: name.map(ASCIIByte.lower), as: UTF8.self)
        // For names that are not listed, as `example.internal`, libpsl takes the last label as the suffix, as this function
        // does.
        return library.ask(library.list, text, self.registries) != 0
    }
}
