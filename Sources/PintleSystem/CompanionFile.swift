// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file that Pintle makes beside another one, by the ending of its name. The reference shows these, too.
package enum CompanionFile: String, CaseIterable, Sendable {
    /// A download that is not complete.
    case part = ".part"
    /// The data by which the download of a part is continued.
    case note = ".json"
    /// The sign that a file is in use.
    case lock = ".lock"
    /// A file that gets the name of the other one, or no name, when it is whole. `PID` and `NUMBER` stand for the process and for
    /// a number that differs each time.
    case temporary = ".PID-NUMBER.tmp"
    /// The changes of a database that SQLite has not taken into it yet.
    case changes = "-wal"
    /// SQLite's index of these changes.
    case changeIndex = "-shm"
    /// A database that was damaged. `TIME` stands for the time at which that was found.
    case damaged = ".damaged-TIME"

    /// The path for people, beside `FILE`.
    package var shown: String {
        switch self {
        case .note: Self.part.shown + self.rawValue
        case .part, .lock, .temporary, .changes, .changeIndex, .damaged: "FILE\(self.rawValue)"
        }
    }

    /// Returns the path of the file beside another one; a ``note`` stands beside a ``part``.
    ///
    /// - Parameter time: takes the place of `TIME`; other files need none.
    package func path(beside path: String, time: String = "") -> String {
        let number = self == .temporary ? UInt32.random(in: .min ... .max) : 0
        return path
            + self.rawValue.replacing("PID", with: "\(getpid())").replacing("NUMBER", with: "\(number)")
            .replacing("TIME", with: time)
    }
}
