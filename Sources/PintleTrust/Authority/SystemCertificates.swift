// SPDX-License-Identifier: Apache-2.0

/// The roots that the operating system trusts, for files that replace its own.
package enum SystemCertificates {
    /// Returns the certificates in the system's files at this moment; none on a machine without roots.
    package static func current() -> [Certificate] { SystemRoots.current().certificates }
}
