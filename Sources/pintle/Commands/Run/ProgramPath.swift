// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The file that a command's first word stands for, as a shell finds it.
enum ProgramPath {
    enum Failure: Error, Equatable {
        /// No file has this name.
        case notFound
        /// There is one, but it is not a program for this user.
        case notExecutable(SystemError)
    }

    /// The folders of programs without PATH, as execvp(3) does.
    private static let standard = "/bin:/usr/bin"

    /// Looks for a program.
    ///
    /// - Parameters:
    ///   - name: a path, where it has a slash; else it is looked for in the folders of `search`.
    ///   - search: PATH; nil where there is none.
    static func find(_ name: String, search: String?) throws(Failure) -> String {
        guard !name.isEmpty else { throw .notFound }
        if name.utf8.contains(UInt8(ascii: "/")) {
            if let obstacle = Self.obstacle(to: name) { throw Self.failure(obstacle) }
            return name
        }
        var failure = Failure.notFound
        for folder in (search ?? Self.standard).split(separator: ":", omittingEmptySubsequences: false) {
            // An empty word is the working directory.
            let path = "\(folder.isEmpty ? "." : folder)/\(name)"
            guard let obstacle = Self.obstacle(to: path) else { return path }
            // A program of that name further on is taken all the same; what the first obstacle was is told otherwise.
            if case .notFound = failure { failure = Self.failure(obstacle) }
        }
        throw failure
    }

    private static func failure(_ obstacle: SystemError) -> Failure {
        obstacle.code == ENOENT || obstacle.code == ENOTDIR ? .notFound : .notExecutable(obstacle)
    }

    /// The reason why a file cannot be run; nil where nothing speaks against it.
    private static func obstacle(to path: String) -> SystemError? {
        var status = stat()
        guard pathStat(path, &status) == 0 else { return .last }
        guard status.st_mode & S_IFMT != S_IFDIR else { return SystemError(EISDIR) }
        return access(path, X_OK) == 0 ? nil : .last
    }
}
