// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Finds the file of a command like a shell.
enum ProgramPath {
    enum Failure: Error, Equatable {
        /// No file has this name.
        case notFound
        /// There is a file, but this user cannot run it.
        case notExecutable(SystemError)
    }

    /// The search path without PATH, as for execvp(3).
    private static let standard = "/bin:/usr/bin"

    /// Looks for a program.
    ///
    /// - Parameters:
    ///   - name: a path if it contains a slash; otherwise a name to look for in the folders of `search`.
    ///   - search: the value of PATH; nil if it is not set.
    static func find(_ name: String, search: String?) throws(Failure) -> String {
        guard !name.isEmpty else { throw .notFound }
        if name.utf8.contains(UInt8(ascii: "/")) {
            if let obstacle = Self.obstacle(to: name) { throw Self.failure(obstacle) }
            return name
        }
        var failure = Failure.notFound
        for folder in (search ?? Self.standard).split(separator: ":", omittingEmptySubsequences: false) {
            // An empty entry stands for the working directory.
            let path = "\(folder.isEmpty ? "." : folder)/\(name)"
            guard let obstacle = Self.obstacle(to: path) else { return path }
            // The search continues; if no later folder has the program, the first obstacle is reported.
            if case .notFound = failure { failure = Self.failure(obstacle) }
        }
        throw failure
    }

    private static func failure(_ obstacle: SystemError) -> Failure {
        obstacle.code == ENOENT || obstacle.code == ENOTDIR ? .notFound : .notExecutable(obstacle)
    }

    /// Returns the reason why a file cannot be run; nil if it can.
    private static func obstacle(to path: String) -> SystemError? {
        var status = stat()
        guard pathStat(path, &status) == 0 else { return .last }
        guard status.st_mode & S_IFMT != S_IFDIR else { return SystemError(EISDIR) }
        return access(path, X_OK) == 0 ? nil : .last
    }
}
