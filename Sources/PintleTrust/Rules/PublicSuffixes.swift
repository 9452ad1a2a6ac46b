// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Names below which registries give names to anybody, as `com` or `co.uk`.
///
/// A single label is one. Longer ones are looked up in libpsl where the system has it: the list changes weekly, and the distribution keeps it. It is opened when it is first needed.
///
/// The list's private section does not count. Who runs `github.io` holds the key for all names below it, and a wildcard
/// is how such services work.
package enum PublicSuffixes {
    private typealias Builtin = @convention(c) () -> OpaquePointer?
    private typealias IsPublicSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, CInt) -> CInt

    /// `PSL_TYPE_ICANN`: the section of the registries.
    private static let registries: CInt = 1
    /// `PSL_TYPE_ANY`: both sections.
    private static let anySection: CInt = 3

    /// The library's list and its question, nil where there is no library. The list is static memory of the library,
    /// which is never closed, and only read.
    private nonisolated(unsafe) static let library: (list: OpaquePointer, ask: IsPublicSuffix)? = {
        guard let handle = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL), let builtin = dlsym(handle, "psl_builtin"),
            let question = dlsym(handle, "psl_is_public_suffix2"),
            let list = unsafeBitCast(builtin, to: Builtin.self)()
        else { return nil }
        return (list, unsafeBitCast(question, to: IsPublicSuffix.self))
    }()

    /// Whether the machine has the list. Where it has not, a wildcard in front of `co.uk` counts as one of a company's.
    package static var areKnown: Bool { self.library != nil }

    /// What to say where the list is missing.
    package static let missing =
        "libpsl.so.5 is missing, and with it the list of public suffixes: a certificate for *.co.uk passes for every host "
        + "right below co.uk; install libpsl5"

    /// Tells whether strangers have names below `name`, by the list's private section, too: no cookie is for all of them.
    ///
    /// - Parameter name: a DNS name in ASCII.
    package static func isShared(_ name: String) -> Bool {
        guard name.contains(".") else { return name != "localhost" }
        guard let library = self.library else { return false }
        return library.ask(library.list, name, self.anySection) != 0
    }

    /// - Parameter name: a DNS name in ASCII.
    static func contains(_ name: [UInt8]) -> Bool {
        guard name.contains(ASCIIByte.dot) else { return true }
        guard let library = self.library else { return false }
        let text = String(decoding: name.map(ASCIIByte.lower), as: UTF8.self)
        // A list knows nothing of `example.internal`; libpsl's rule for what is not listed is the last label, as ours.
        return library.ask(library.list, text, self.registries) != 0
    }
}
