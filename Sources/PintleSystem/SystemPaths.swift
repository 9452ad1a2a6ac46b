// SPDX-License-Identifier: Apache-2.0

package import Glibc

// Wrappers for functions of the system that take a path. In every file that imports this module, calls with a String use
// them instead of Glibc's functions. Those take pointers, and Swift would pass the String's UTF-8, which is not always the
// path (``Swift/String/systemBytes``). `scripts/house.sh` finds files that call them without the import.

@discardableResult
package func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
    path.withSystemText { Glibc.open($0, flags, mode) }
}

/// Calls stat(2); the name differs because Swift reserves `stat` for Glibc's function.
@discardableResult
package func pathStat(_ path: String, _ status: inout Glibc.stat) -> Int32 {
    path.withSystemText { stat($0, &status) }
}

@discardableResult
package func lstat(_ path: String, _ status: inout Glibc.stat) -> Int32 {
    path.withSystemText { lstat($0, &status) }
}

@discardableResult
package func access(_ path: String, _ mode: Int32) -> Int32 { path.withSystemText { Glibc.access($0, mode) } }

@discardableResult
package func chmod(_ path: String, _ mode: mode_t) -> Int32 { path.withSystemText { Glibc.chmod($0, mode) } }

@discardableResult
package func mkdir(_ path: String, _ mode: mode_t) -> Int32 { path.withSystemText { Glibc.mkdir($0, mode) } }

@discardableResult
package func rmdir(_ path: String) -> Int32 { path.withSystemText { Glibc.rmdir($0) } }

@discardableResult
package func unlink(_ path: String) -> Int32 { path.withSystemText { Glibc.unlink($0) } }

@discardableResult
package func rename(_ path: String, _ new: String) -> Int32 {
    path.withSystemText { path in new.withSystemText { Glibc.rename(path, $0) } }
}

@discardableResult
package func link(_ path: String, _ new: String) -> Int32 {
    path.withSystemText { path in new.withSystemText { Glibc.link(path, $0) } }
}

@discardableResult
package func openat(_ folder: Int32, _ name: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
    name.withSystemText { Glibc.openat(folder, $0, flags, mode) }
}

@discardableResult
package func fstatat(_ folder: Int32, _ name: String, _ status: inout Glibc.stat, _ flags: Int32) -> Int32 {
    name.withSystemText { Glibc.fstatat(folder, $0, &status, flags) }
}

@discardableResult
package func mkdirat(_ folder: Int32, _ name: String, _ mode: mode_t) -> Int32 {
    name.withSystemText { Glibc.mkdirat(folder, $0, mode) }
}

@discardableResult
package func unlinkat(_ folder: Int32, _ name: String, _ flags: Int32) -> Int32 {
    name.withSystemText { Glibc.unlinkat(folder, $0, flags) }
}

@discardableResult
package func renameat(_ folder: Int32, _ name: String, _ newFolder: Int32, _ new: String) -> Int32 {
    name.withSystemText { name in new.withSystemText { Glibc.renameat(folder, name, newFolder, $0) } }
}

package func opendir(_ path: String) -> OpaquePointer? { path.withSystemText { Glibc.opendir($0) } }

/// Returns the absolute path without symbolic links; nil with `errno` if it leads nowhere.
package func realpath(_ path: String) -> String? {
    guard let real = path.withSystemText({ Glibc.realpath($0, nil) }) else { return nil }
    defer { free(real) }
    return String(systemText: real)
}

/// Returns the target of a symbolic link; nil with `errno` if there is none.
///
/// - Parameter folder: a descriptor of the folder from which a relative path starts. Default: the working directory.
package func readlink(_ path: String, in folder: Int32 = AT_FDCWD) -> String? {
    var space = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = path.withSystemText { Glibc.readlinkat(folder, $0, &space, space.count) }
    return count >= 0 ? String(systemBytes: space[..<count].map(UInt8.init(bitPattern:))) : nil
}

/// Returns the paths of files that match a pattern with wildcards (glob(7)). They are sorted by their bytes, as no program of Pintle's
/// sets a locale.
package func paths(matching pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard pattern.withSystemText({ glob($0, 0, nil, &found) }) == 0 else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { index in found.gl_pathv[index].map { String(systemText: $0) } }
}

/// Returns the working directory; nil with `errno` if it is gone.
package func getcwd() -> String? {
    guard let path = Glibc.getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(systemText: path)
}

extension String {
    /// The name of a directory entry of readdir(3).
    package init(nameIn entry: UnsafeMutablePointer<dirent>) {
        self = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in String(systemBytes: bytes.prefix { $0 != 0 }) }
    }
}
