// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// The file of a jar. One thread at a time writes it, and ends when there is nothing left to write.
final class CookieFile: Sendable {
    private typealias Waiter = @Sendable (Result<Void, CookieFileError>) -> Void

    private struct State {
        /// Called with the result of the next save that begins.
        var waiting: [Waiter] = []
        /// True if cookies have changed since the last save began, and changes are saved automatically.
        var isChanged = false
        /// True if a thread takes care of both.
        var isAttended = false
    }

    /// The most bytes that are read: about as many as the highest number of cookies in a jar can have.
    private static let longest = 16 << 20

    private let path: String
    private let keepsSessionCookies: Bool
    private let savesChanges: Bool
    /// The time after a change during which further changes are collected into one save.
    private let delay: Duration
    private let changed = Condition()
    // Touched only inside `changed.locked`.
    private nonisolated(unsafe) var state = State()

    init(_ path: String, keepsSessionCookies: Bool, savesChanges: Bool, delay: Duration = .seconds(1)) {
        self.path = path
        self.keepsSessionCookies = keepsSessionCookies
        self.savesChanges = savesChanges
        self.delay = delay
    }

    // MARK: Reading

    /// Reads the file; a missing file has no cookies.
    func read(skippingMalformedLines: Bool, into keep: (Cookie) -> Void) throws(CookieFileError) {
        let bytes = try self.contents()
        do throws(CookieLines.Malformed) {
            try CookieLines.read(
                bytes, isShared: PublicSuffixes.isShared, passesOver: { _ in skippingMalformedLines }, keep: keep)
        } catch {
            throw CookieFileError(.malformed, self.path, line: error.line, error.reason)
        }
    }

    private func contents() throws(CookieFileError) -> [UInt8] {
        var status = stat()
        guard pathStat(self.path, &status) == 0 else {
            let error = SystemError.last
            if error.code == ENOENT { return [] }
            throw CookieFileError(.unreadable, self.path, "it cannot be read: \(error)")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CookieFileError(.unreadable, self.path, "it is not a regular file")
        }
        guard access(self.path, R_OK) == 0 else {
            throw CookieFileError(.unreadable, self.path, "it cannot be read: \(SystemError.last)")
        }
        if let bytes = FileBytes.read(self.path, upTo: Self.longest) { return bytes }
        guard status.st_size <= Self.longest else {
            throw CookieFileError(.tooLarge, self.path, "it has over \(Self.longest) bytes")
        }
        throw CookieFileError(.unreadable, self.path, "it was changed or taken away while it was read")
    }

    // MARK: Writing

    /// Waits until the present cookies are written.
    func save(_ jar: CookieJar) async throws(CookieFileError) {
        let result = Locked<Result<Void, CookieFileError>?>(nil)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            self.attend(jar) { state in
                state.waiting.append { value in
                    result.withLock { $0 = value }
                    done.resume()
                }
            }
        }
        guard let value = result.withLock({ $0 }) else { preconditionFailure("BUG: a save ended without a result") }
        try value.get()
    }

    /// Notes that cookies have changed, so that they are saved soon. Does nothing unless the file saves changes.
    func noteChange(of jar: CookieJar) {
        guard self.savesChanges else { return }
        self.attend(jar) { $0.isChanged = true }
    }

    /// Applies `change`, and makes sure that a thread carries it out.
    private func attend(_ jar: CookieJar, _ change: (inout State) -> Void) {
        let isFirst = self.changed.locked {
            change(&self.state)
            self.changed.signal()
            defer { self.state.isAttended = true }
            return !self.state.isAttended
        }
        // The thread was told of the change.
        guard isFirst else { return }
        do throws(SystemError) {
            try SystemThread.start { self.work(for: jar) }
        } catch {
            let failure = CookieFileError(.unwritable, self.path, "it cannot be written: no thread, \(error)")
            let waiting = self.changed.locked {
                defer { self.state = State() }
                return self.state.waiting
            }
            self.tell(jar, waiting, .failure(failure))
        }
    }

    private func work(for jar: CookieJar) {
        while let waiting = self.nextSave() {
            self.tell(jar, waiting, Result { () throws(CookieFileError) in try self.write(jar.cookies) })
        }
    }

    /// Collects changes into one save for a while, unless a caller waits for the save.
    ///
    /// - Returns: the waiters to notify; nil if there is nothing to save, so that the thread must end.
    private func nextSave() -> [Waiter]? {
        self.changed.locked {
            let end = Condition.Deadline(in: self.delay)
            while self.state.isChanged, self.state.waiting.isEmpty, self.changed.wait(until: end) {}
            guard self.state.isChanged || !self.state.waiting.isEmpty else {
                self.state.isAttended = false
                return nil
            }
            defer { (self.state.waiting, self.state.isChanged) = ([], false) }
            return self.state.waiting
        }
    }

    private func tell(_ jar: CookieJar, _ waiting: [Waiter], _ result: Result<Void, CookieFileError>) {
        jar.saved(result)
        for waiter in waiting { waiter(result) }
    }

    private func write(_ cookies: [Cookie]) throws(CookieFileError) {
        let kept = self.keepsSessionCookies ? cookies : cookies.filter { $0.expires != nil }
        do throws(SystemError) {
            try FileWriting.replace(self.path, with: Array(CookieLines.text(of: kept).utf8), mode: 0o600)
        } catch {
            throw CookieFileError(.unwritable, self.path, "it cannot be written: \(error)")
        }
    }
}

/// The reason why a file of cookies cannot be read or written.
public struct CookieFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The file cannot be read, or is not a regular file.
        case unreadable
        /// The file has over 16 MiB.
        case tooLarge
        /// A line of the file is not a cookie; ``CookieFileError/line`` is its number.
        case malformed
        /// The file cannot be written; it is unchanged.
        case unwritable
    }

    /// The kind of failure.
    public let code: Code
    /// The path of the file.
    public let path: String
    /// The number of the faulty line, counted from 1; nil if no line is at fault.
    public let line: Int?
    /// The fault, without text from the file.
    public let message: String

    init(_ code: Code, _ path: String, line: Int? = nil, _ message: String) {
        self.code = code
        self.path = path
        self.line = line
        self.message = message
    }

    /// `path:line: message`.
    public var description: String { "\(self.path)\(self.line.map { ":\($0)" } ?? ""): \(self.message)" }
}
