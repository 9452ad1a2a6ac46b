// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// True if the tests run under a sanitizer. It keeps memory of its own, which distorts measurements of memory.
package let runsUnderSanitizer = ProcessInfo.processInfo.environment["PINTLE_SANITIZER"] != nil
