// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleLoop

/// The option `serve --watch`: reloads after a change to a file from which the configuration was made.
final class ConfigurationWatch: @unchecked Sendable {
    // Why @unchecked holds: after `init`, `watch` and `paths` are only used on the loop's thread.
    private let loop: Loop
    private let logger: Logger
    private let watch: FileWatch
    /// The files of the current configuration, and of those that were tried since.
    private var paths: Set<String> = []

    /// - Parameter whenChanged: called on the loop's thread.
    /// - Throws: an error if the system cannot watch files.
    init(loop: Loop, logger: Logger, whenChanged: @escaping () -> Void) throws(CommandFailure) {
        self.loop = loop
        self.logger = logger
        do {
            self.watch = try FileWatch(loop: loop, whenChanged: whenChanged)
        } catch {
            throw CommandFailure(.incomplete, "--watch: files cannot be watched: \(error)")
        }
    }

    /// Watches the files of a configuration.
    ///
    /// - Parameter isInForce: true if no other files matter any more. After a failed attempt, earlier files stay watched:
    ///   those that the attempt did not reach may contain the error.
    func follow(_ files: ReadFiles, isInForce: Bool) {
        self.loop.execute {
            var marks = files.marks
            if !isInForce { for path in self.paths where marks[path] == nil { marks[path] = FileMark(path) } }
            self.paths = Set(marks.keys)
            for problem in self.watch.follow(marks) {
                self.logger.warning("changes are not seen in \(problem)")
            }
        }
    }

    func stop() { self.loop.execute { self.watch.stop() } }
}
