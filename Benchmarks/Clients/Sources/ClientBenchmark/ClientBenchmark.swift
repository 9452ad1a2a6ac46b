// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Measures the cost of requests in a program, for the client that makes them:
///
///     ClientBenchmark CLIENT MODE BASE PATH COUNT CONCURRENCY WARM-UP [CERTIFICATES [FILE]]
///
/// CLIENT is pintle, ahc or urlsession; MODE is get, stream, download (to FILE) or upload (from FILE). It makes WARM-UP
/// requests, then COUNT requests, CONCURRENCY at a time, and prints the processor time of its process for one request, user
/// and system, and the elapsed time, both in microseconds.
@main struct ClientBenchmark {
    private enum Mode: String {
        case get, stream, download, upload
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 8, let mode = Mode(rawValue: arguments[2]), let count = Int(arguments[5]),
            let concurrency = Int(arguments[6]), let warmUp = Int(arguments[7])
        else {
            throw UnexpectedAnswer(
                description: "arguments: CLIENT MODE BASE PATH COUNT CONCURRENCY WARM-UP [CERTIFICATES [FILE]]")
        }
        let (base, path) = (arguments[3], arguments[4])
        let authority = arguments.count > 8 && !arguments[8].isEmpty ? arguments[8] : nil
        let file = arguments.count > 9 ? arguments[9] : ""
        let client: any Client
        switch arguments[1] {
        case "pintle": client = try PintleClient(base: base, authority: authority)
        case "ahc": client = AsyncHTTPClientClient(base: base, authority: authority)
        case "urlsession": client = URLSessionClient(base: base)
        default: throw UnexpectedAnswer(description: "there is no client \(arguments[1])")
        }
        let request: @Sendable () async throws -> Void = {
            switch mode {
            case .get: _ = try await client.get(path)
            case .stream: _ = try await client.stream(path)
            case .download:
                // A client that wrote over an old file would avoid the cost of a new one's pages.
                unlink(file)
                try await client.download(path, to: file)
            case .upload: try await client.upload(path, from: file)
            }
        }
        try await Self.make(warmUp, request, at: concurrency)
        let (processor, clock) = (Self.processorTime(), ContinuousClock.now)
        try await Self.make(count, request, at: concurrency)
        let passed = (ContinuousClock.now - clock) / .microseconds(1)
        let each = Double(Self.processorTime() - processor) / Double(count)
        print(String(format: "%.1f %.1f", each, passed / Double(count)))
        try await client.close()
    }

    private static func make(
        _ count: Int, _ request: @escaping @Sendable () async throws -> Void, at concurrency: Int
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                let share = count / concurrency + (worker < count % concurrency ? 1 : 0)
                group.addTask { for _ in 0..<share { try await request() } }
            }
            try await group.waitForAll()
        }
    }

    /// The processor time of this process, user and system, in microseconds.
    private static func processorTime() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let (user, system) = (usage.ru_utime, usage.ru_stime)
        return (user.tv_sec + system.tv_sec) * 1_000_000 + Int(user.tv_usec + system.tv_usec)
    }
}
