// SPDX-License-Identifier: Apache-2.0

/// One HTTP client, used as its documentation recommends.
///
/// Each client makes one long-lived object, with the threads that it starts by itself.
protocol Client: Sendable {
    /// Reads a small resource into memory.
    ///
    /// - Returns: the number of its bytes.
    func get(_ path: String) async throws -> Int

    /// Reads a large resource piece by piece, without keeping it.
    ///
    /// - Returns: the number of its bytes.
    func stream(_ path: String) async throws -> Int

    /// Reads a large resource into a file.
    func download(_ path: String, to file: String) async throws

    /// Sends a file by PUT.
    func upload(_ path: String, from file: String) async throws

    func close() async throws
}

/// An answer that the benchmark did not expect from the server.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    let description: String

    static func check(status: Int) throws {
        guard (200..<300).contains(status) else {
            throw UnexpectedAnswer(description: "the server answered with status \(status)")
        }
    }
}
