// SPDX-License-Identifier: Apache-2.0

import PintleDatabase
import PintleTesting
import Testing

struct DatabaseTests {
    private let folder: TemporaryFolder
    private var path: String { "\(self.folder.path)/a.sqlite" }

    init() throws { self.folder = try TemporaryFolder() }

    /// A database with a table `item` of a number and any value.
    private func database(patience: Duration = .zero, settings: String = "") throws -> Database {
        try Database(self.path, patience: patience) { connection in
            try connection.runScript(
                """
                -- A comment, and an empty statement.
                ;
                CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, value);
                CREATE TABLE IF NOT EXISTS part (item INTEGER NOT NULL REFERENCES item (id) ON DELETE CASCADE);
                \(settings)
                """)
        }
    }

    private func error(_ body: () throws -> Void) -> DatabaseError? {
        do { try body() } catch { return error as? DatabaseError }
        return nil
    }

    // MARK: Values

    @Test(
        arguments: [
            .null, .integer(0), .integer(.min), .integer(.max), .real(1.5), .real(-.infinity), .text(""), .text("a"),
            .text("zero \0 byte"), .text("it's; DROP TABLE item; --\""), .text("\u{1F5DD}\u{FE0F} e\u{301}"), .blob([]),
            .blob([0, 0xFF, 0]), .blob([UInt8](repeating: 7, count: 1 << 20)),
        ] as [DatabaseValue])
    func `a value is read as it was written`(value: DatabaseValue) throws {
        let database = try self.database()
        let read = try database.write { connection in
            try connection.run("INSERT INTO item (value) VALUES (?)", [value])
            #expect(connection.changes == 1 && connection.lastInsertedID == 1)
            return try connection.row("SELECT * FROM item WHERE value IS ?", [value])
        }
        #expect(read?["value"] == value && read?.integer("id") == 1 && read?["other"] == .null)
        #expect(try database.read { try $0.value("SELECT count(*) FROM item") } == .integer(1))
    }

    @Test func `a value of another type is nil`() throws {
        let database = try self.database()
        let row = try #require(
            try database.read { try $0.row("SELECT 1 AS a, 'x' AS b, x'00' AS c, 1.5 AS d, NULL AS e") })
        #expect(row.integer("a") == 1 && row.text("a") == nil && row.blob("a") == nil)
        #expect(row.text("b") == "x" && row.integer("b") == nil && row.blob("b") == nil)
        #expect(row.blob("c") == [0] && row.text("c") == nil)
        #expect(row.integer("d") == nil && row.text("e") == nil)
    }

    @Test func `text that is not UTF-8 is repaired`() throws {
        let database = try self.database()
        #expect(try database.read { try $0.value("SELECT CAST(x'61FF' AS TEXT)") } == .text("a\u{FFFD}"))
    }

    @Test func `a statement is run again with other arguments`() throws {
        let database = try self.database()
        try database.write { connection in
            for number in Int64(0)..<100 {
                try connection.run("INSERT INTO item (value) VALUES (?)", [.integer(number)])
            }
            try connection.run("DELETE FROM item WHERE value < ?", [.integer(40)])
            #expect(connection.changes == 40)
        }
        let rows = try database.read { try $0.rows("SELECT value FROM item ORDER BY id DESC LIMIT ?", [.integer(3)]) }
        #expect(rows.map(\.first) == [.integer(99), .integer(98), .integer(97)])
    }

    @Test func `a statement that is run again has the columns of its tables as they are then`() throws {
        let (first, second) = (try self.database(), try self.database())
        try first.write { try $0.run("INSERT INTO item (value) VALUES (7)") }
        func row() throws -> DatabaseRow? { try first.read { try $0.row("SELECT * FROM item") } }
        let before = try row()
        #expect(before?["value"] == .integer(7))
        try second.write { connection in
            try connection.runScript(
                "ALTER TABLE item RENAME COLUMN value TO content; ALTER TABLE item ADD COLUMN more DEFAULT 'x'")
        }
        let after = try row()
        #expect(after?["content"] == .integer(7) && after?["more"] == .text("x") && after?["value"] == .null)
    }

    @Test(arguments: [[], [.null, .null]] as [[DatabaseValue]])
    func `another number of arguments than parameters is refused`(arguments: [DatabaseValue]) throws {
        let database = try self.database()
        #expect(self.error { try database.read { _ = try $0.rows("SELECT ?", arguments) } }?.code == .range)
    }

    @Test func `a misspelled column in quotes is no text`() throws {
        let database = try self.database()
        let error = self.error { try database.read { _ = try $0.rows("SELECT \"valeu\" FROM item") } }
        #expect(error?.code == .error && error?.message.contains("valeu") == true)
    }

    // MARK: Transactions

    @Test func `a transaction that throws changes nothing`() throws {
        struct Reason: Error {}
        let database = try self.database()
        #expect(throws: Reason.self) {
            try database.write { connection in
                try connection.run("INSERT INTO item (value) VALUES (1)")
                throw Reason()
            }
        }
        #expect(try database.read { try $0.value("SELECT count(*) FROM item") } == .integer(0))
    }

    @Test func `a row takes those with it that refer to it, and a reference to none is refused`() throws {
        let database = try self.database()
        try database.write { connection in
            try connection.run("INSERT INTO item (id) VALUES (7)")
            try connection.run("INSERT INTO part (item) VALUES (7)")
            try connection.run("DELETE FROM item")
            #expect(try connection.value("SELECT count(*) FROM part") == .integer(0))
        }
        let error = self.error { try database.write { try $0.run("INSERT INTO part (item) VALUES (8)") } }
        // SQLITE_CONSTRAINT_FOREIGNKEY
        #expect(error?.code == .constraint && error?.extendedCode == 787)
    }

    @Test func `a transaction waits for another that writes, as long as it may`() throws {
        let (first, second) = (try self.database(), try self.database())
        try first.write { connection in
            try connection.run("INSERT INTO item (value) VALUES (1)")
            #expect(
                self.error { try second.write { try $0.run("INSERT INTO item (value) VALUES (2)") } }?.code == .busy)
        }
        try second.write { try $0.run("INSERT INTO item (value) VALUES (2)") }
        #expect(try first.read { try $0.value("SELECT count(*) FROM item") } == .integer(2))
    }

    @Test func `threads and connections write in turn`() async throws {
        let databases = [try self.database(patience: .seconds(600)), try self.database(patience: .seconds(600))]
        try databases[0].write { try $0.run("INSERT INTO item (value) VALUES (0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        try databases[number % 2].write { connection in
                            let value = try connection.value("SELECT value FROM item").integer ?? 0
                            try connection.run("UPDATE item SET value = ?", [.integer(value + 1)])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try databases[1].read { try $0.value("SELECT value FROM item") } == .integer(200))
    }

    @Test func `a full disk is said to be so, and the database stays usable`() throws {
        let database = try self.database(settings: "PRAGMA max_page_count = 8")
        let error = self.error {
            try database.write { try $0.run("INSERT INTO item (value) VALUES (zeroblob(100000))") }
        }
        #expect(error?.code == .full && error?.words == "no space left on the device")
        try database.write { try $0.run("INSERT INTO item (value) VALUES (1)") }
        #expect(try database.read { try $0.value("SELECT count(*) FROM item") } == .integer(1))
    }

    // MARK: Files

    @Test func `a file that is no database is not changed`() throws {
        let text = String(repeating: "no database, and longer than the head of one\n", count: 40)
        try self.folder.write(text, to: "a.sqlite")
        let error = self.error { _ = try self.database() }
        #expect(error?.code == .notADatabase && error?.words == "it is not a database")
        #expect(fileBytes(self.path) == Array(text.utf8))
    }

    @Test func `damaged pages are found when they are read`() throws {
        let database = try self.database()
        try database.write { connection in
            for _ in 0..<100 { try connection.run("INSERT INTO item (value) VALUES (zeroblob(1000))") }
        }
        database.close()
        var bytes = try #require(fileBytes(self.path))
        for index in 4096..<bytes.count { bytes[index] = 0x5A }
        try self.folder.write(bytes, to: "a.sqlite")
        let error = self.error { try self.database().read { _ = try $0.rows("SELECT * FROM item") } }
        #expect(error?.code == .corrupt && error?.words == "its pages contradict each other")
    }

    @Test func `a reader creates no file and changes none`() throws {
        let error = self.error { _ = try Database(self.path, .reading) }
        #expect(error?.code == .cannotOpen)
        try self.database().close()
        let reader = try Database(self.path, .reading)
        #expect(try reader.read { try $0.value("SELECT count(*) FROM item") } == .integer(0))
        #expect(
            self.error { try reader.write { try $0.run("INSERT INTO item (value) VALUES (1)") } }?.code == .readOnly)
    }

    @Test func `a path is that of a file, whatever it looks like`() throws {
        // In the folder "file:", which is not there.
        #expect(self.error { _ = try Database("file:\(self.path)") }?.code == .cannotOpen)
        #expect(self.error { _ = try Database("\(self.path)\0x") }?.code == .cannotOpen)
        #expect(fileBytes(self.path) == nil)
        for path in [":memory:", "", "file::memory:"] {
            #expect(self.error { _ = try Database(path, .reading) }?.code == .cannotOpen, "\(path)")
        }
    }

    @Test func `a closed database says so`() throws {
        let database = try self.database()
        database.close()
        database.close()
        #expect(self.error { try database.read { _ = try $0.value("SELECT 1") } }?.code == .misuse)
        #expect(self.error { try database.write { try $0.run("DELETE FROM item") } }?.code == .misuse)
    }

    @Test func `a failure has SQLite's words for developers and others for users`() {
        let error = DatabaseError(.busy, "database is locked")
        #expect(error.words == "another process holds it; try again when that has ended")
        #expect("\(error)" == "SQLite's code 5: database is locked")
    }
}
