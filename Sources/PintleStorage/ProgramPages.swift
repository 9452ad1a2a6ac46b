// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux

/// The pages of the program's file in memory.
package enum ProgramPages {
    /// Gives back the pages that are never written, such as code; those that are used again are mapped again from the kernel's
    /// cache of the file.
    ///
    /// For the end of a start: reading a configuration and looking up conformances touch most of the program, once.
    package static func release() { pintle_release_program() }
}
