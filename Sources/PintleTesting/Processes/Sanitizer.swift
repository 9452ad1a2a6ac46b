// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Whether the tests run under a sanitizer, which keeps memory of its own: what measures memory measures that.
package let runsUnderSanitizer = ProcessInfo.processInfo.environment["PINTLE_SANITIZER"] != nil
