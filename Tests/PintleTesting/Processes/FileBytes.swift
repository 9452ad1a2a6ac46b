// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Returns the bytes of a file; nil if it cannot be read. Unlike FileManager's `contents(atPath:)` it leaks nothing for an
/// empty file.
package func fileBytes(_ path: String) -> [UInt8]? {
    guard let file = FileHandle(forReadingAtPath: path), let bytes = try? file.readToEnd() ?? Data() else { return nil }
    return Array(bytes)
}
