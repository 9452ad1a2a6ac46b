// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// An SQLite database, open on one connection, which threads use in turn.
///
/// Each method blocks on the disk, on the connection's lock, and on other processes.
package final class Database: Sendable {
    package enum Access: Sendable {
        case reading
        /// The file is created if it is missing.
        case writing
    }

    // @unchecked: the connection is used only by the thread that holds the lock around this value.
    private struct Guarded: @unchecked Sendable {
        /// Nil once the database is closed.
        var connection: DatabaseConnection?
    }

    private let connection: Locked<Guarded>

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - patience: the time for which a transaction waits until another process has finished writing.
    ///   - prepare: sets the connection up, outside of transactions.
    /// - Throws: `DatabaseError`, and what `prepare` throws.
    package init(
        _ path: String, _ access: Access = .writing, patience: Duration = .zero,
        prepare: (DatabaseConnection) throws -> Void = { _ in }
    ) throws {
        let place: String
        do throws(SystemError) {
            place = try path.pathForLibraries()
        } catch {
            throw DatabaseError(.cannotOpen, "\(error)")
        }
        let connection = try DatabaseConnection(place, access, patience: patience)
        try prepare(connection)
        self.connection = Locked(Guarded(connection: connection))
    }

    /// Runs `body` in a transaction that only reads: all its statements see the same state.
    package func read<Value>(_ body: (DatabaseConnection) throws -> Value) throws -> Value {
        try self.using { try $0.inTransaction("BEGIN DEFERRED", body) }
    }

    /// Runs `body` in a transaction that writes: all of it takes effect, or, if it throws, nothing.
    package func write<Value>(_ body: (DatabaseConnection) throws -> Value) throws -> Value {
        // Immediate: a transaction that begins to write later may be refused at once, without any patience.
        try self.using { try $0.inTransaction("BEGIN IMMEDIATE", body) }
    }

    /// Closes the connection after its current work. Later calls throw `misuse`. Has no effect on a closed database.
    package func close() {
        self.connection.withLock { $0.connection = nil }
    }

    private func using<Value>(_ body: (DatabaseConnection) throws -> Value) throws -> Value {
        try self.connection.withLock { guarded in
            guard let connection = guarded.connection else { throw DatabaseError(.misuse, "the database is closed") }
            return try body(connection)
        }
    }
}
