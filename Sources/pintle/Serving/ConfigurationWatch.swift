// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleLoop

/// `serve --watch`: reloads when a file has changed of which the configuration was made.
final class ConfigurationWatch: @unchecked Sendable {
    // Why @unchecked holds: `watch` and `paths` are used on the loop's thread only, once `init` is over.
    private let loop: Loop
    private let logger: Logger
    private let watch: FileWatch
    /// Of what is in force, and of what was tried since.
    private var paths: Set<String> = []

    /// - Parameter whenChanged: called on the loop's thread.
    /// - Throws: when the system gives no means to watch files.
    init(loop: Loop, logger: Logger, whenChanged: @escaping () -> Void) throws(CommandFailure) {
        self.loop = loop
        self.logger = logger
        do {
            self.watch = try FileWatch(loop: loop, whenChanged: whenChanged)
        } catch {
            throw CommandFailure(.incomplete, "--watch: files cannot be watched: \(error)")
        }
    }

    /// Watches what a configuration was made of.
    ///
    /// - Parameter isInForce: whether nothing else is of interest any more. What an attempt that failed has not come to
    ///   may be what it lacks.
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
