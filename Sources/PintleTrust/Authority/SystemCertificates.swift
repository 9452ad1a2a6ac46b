// SPDX-License-Identifier: Apache-2.0

/// The roots that the operating system trusts, for files that take the place of its own.
package enum SystemCertificates {
    /// The certificates as the files are now; none on a machine without roots.
    package static func current() -> [Certificate] { SystemRoots.current().certificates }
}
