// SPDX-License-Identifier: Apache-2.0

import Glibc
import Pintle

/// Runs the example that its first argument names. It exits with 0 on success, 1 on failure, 64 if the arguments are wrong.
@main
enum PintleExamples {
    private static let usage = """
        usage: PintleExamples first URL PIN BACKUP-PIN
               PintleExamples orders BASE-URL ROOTS PIN...
               PintleExamples report BASE-URL
               PintleExamples download URL FILE [STOP-AFTER-BYTES]
               PintleExamples upload URL ROOTS USER FILE...
               PintleExamples readings URL
               PintleExamples events URL
               PintleExamples follow URL ROOTS PIN...
               PintleExamples pictures BASE-URL NAME...
               PintleExamples refresh URL
               PintleExamples news BASE-URL
               PintleExamples tour BASE-URL FILE
               PintleExamples advanced BASE-URL ROOTS PIN...
               PintleExamples manager BASE-URL FILE COPY ROOTS
               PintleExamples github BASE-URL TOKEN USER
               PintleExamples pages BASE-URL FOLDER
               PintleExamples ask BASE-URL KEY QUESTION
               PintleExamples put URL FILE
               PintleExamples crawl BASE-URL
               PintleExamples echo URL LINE...
               PintleExamples bank BASE-URL ROOTS PIN IDENTITY CENTS
               PintleExamples job BASE-URL
               PintleExamples weather
        ROOTS is a file or folder of certificates in PEM, or "system". The password of USER is in UPLOAD_PASSWORD.
        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst(2))
        do {
            switch (CommandLine.arguments.dropFirst().first, arguments.count) {
            case ("first", 3):
                try await firstRequest(to: arguments[0], inUse: arguments[1], backup: arguments[2])
            case ("orders", 3...):
                try await placeOrder(
                    at: arguments[0], roots: Self.roots(arguments[1]), pins: arguments.dropFirst(2).map(Pin.init))
            case ("report", 1): try await readReport(at: arguments[0])
            case ("download", 2...3):
                let limit = arguments.count == 3 ? UInt64(arguments[2]) : .max
                guard let limit else { return Self.refuse() }
                try await download(arguments[0], to: arguments[1], stoppingAfter: limit)
            case ("upload", 4...):
                let credential = try Credential(user: arguments[2], password: Self.password)
                try await upload(
                    Array(arguments[3...]), to: arguments[0], roots: Self.roots(arguments[1]), as: credential)
            case ("readings", 1): try await Self.withSession { try await printReadings(from: arguments[0], in: $0) }
            case ("events", 1): try await Self.withSession { try await printEvents(from: arguments[0], in: $0) }
            case ("pictures", 2...): try await printPictures(Array(arguments.dropFirst()), from: arguments[0])
            case ("refresh", 1): try await refreshPage(at: arguments[0])
            case ("news", 1): try await readNews(at: arguments[0])
            case ("follow", 3...):
                try await followOrders(
                    at: arguments[0], roots: Self.roots(arguments[1]), pins: arguments.dropFirst(2).map(Pin.init))
            case (let name?, _): if try await !Self.runProgram(name, arguments) { Self.refuse() }
            default: Self.refuse()
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    /// Runs one of the small programs.
    ///
    /// - Returns: false if no program has this name and number of arguments.
    private static func runProgram(_ name: String, _ arguments: [String]) async throws -> Bool {
        switch (name, arguments.count) {
        case ("tour", 2): try await tour(at: arguments[0], to: arguments[1])
        case ("advanced", 3...):
            try await advanced(
                at: arguments[0], roots: Self.roots(arguments[1]), pins: arguments.dropFirst(2).map(Pin.init))
        case ("manager", 4):
            try await managerTour(
                at: arguments[0], file: arguments[1], to: arguments[2], roots: Self.roots(arguments[3]))
        case ("github", 3): try await useGitHub(at: arguments[0], token: arguments[1], user: arguments[2])
        case ("pages", 2): try await downloadAll(from: arguments[0], into: arguments[1])
        case ("ask", 3): try await ask(arguments[2], at: arguments[0], key: arguments[1])
        case ("put", 2): try await uploadWithProgress(arguments[1], to: arguments[0])
        case ("crawl", 1): try await crawl(from: arguments[0])
        case ("echo", 2...): try await echo(Array(arguments.dropFirst()), at: arguments[0])
        case ("bank", 5):
            guard let cents = Int(arguments[4]) else { return false }
            try await transfer(
                cents, at: arguments[0], roots: Self.roots(arguments[1]), pins: [Pin(arguments[2])],
                identity: ClientIdentity(certificateFile: arguments[3]))
        case ("job", 1): try await doJob(at: arguments[0])
        case ("weather", 0): try await testWeather()
        default: return false
        }
        return true
    }

    private static func withSession(_ body: (Session) async throws -> Void) async throws {
        let engine = try Engine(threads: 1)
        let session = try Session(engine: engine)
        try await body(session)
        await session.invalidateAndCancel()
        engine.stop()
    }

    private static func refuse() {
        print(Self.usage)
        exit(64)
    }

    private static func roots(_ argument: String) throws -> SecurityPolicy.Roots {
        argument == "system" ? .system : .only(try Certificate.load(path: argument))
    }

    /// The password is not an argument: all users of the machine can read those.
    private static var password: String { getenv("UPLOAD_PASSWORD").map { String(cString: $0) } ?? "" }
}
