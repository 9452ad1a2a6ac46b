// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOSSL

/// Runs the counterpart that its first argument names, with the arguments of the program of that name in Examples/Programs.
/// It exits with 0 on success, 1 on failure, 64 if the arguments are wrong.
@main
enum Counterparts {
    private static let usage = """
        usage: Counterparts tour BASE-URL FILE
               Counterparts github BASE-URL TOKEN USER
               Counterparts pages BASE-URL FOLDER
               Counterparts ask BASE-URL KEY QUESTION
               Counterparts put URL FILE
               Counterparts crawl BASE-URL
               Counterparts echo URL LINE...
               Counterparts bank BASE-URL ROOTS PIN IDENTITY CENTS
               Counterparts job BASE-URL
               Counterparts weather
        ROOTS is a file of certificates in PEM, or "system". No library here has pins on Linux: PIN is not used.
        """

    static func main() async {
        do {
            if try await Self.run(CommandLine.arguments.dropFirst().first, Array(CommandLine.arguments.dropFirst(2))) {
                return
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
        print(Self.usage)
        exit(64)
    }

    /// Runs one of the programs.
    ///
    /// - Returns: false if no program has this name and number of arguments.
    private static func run(_ name: String?, _ arguments: [String]) async throws -> Bool {
        switch (name, arguments.count) {
        case ("tour", 2): try await tour(at: arguments[0], to: arguments[1])
        case ("github", 3): try await useGitHub(at: arguments[0], token: arguments[1], user: arguments[2])
        case ("pages", 2): try await downloadAll(from: arguments[0], into: arguments[1])
        case ("ask", 3): try await ask(arguments[2], at: arguments[0], key: arguments[1])
        case ("put", 2):
            try await uploadWithProgress(URL(fileURLWithPath: arguments[1]), to: Self.url(arguments[0]))
        case ("crawl", 1): try await crawl(from: Self.url(arguments[0]))
        case ("echo", 2...): try await echo(Array(arguments.dropFirst()), at: Self.url(arguments[0]))
        case ("bank", 5):
            guard let cents = Int(arguments[4]) else { return false }
            try await transfer(
                cents, at: arguments[0], roots: arguments[1] == "system" ? .default : .file(arguments[1]),
                chain: NIOSSLCertificate.fromPEMFile(arguments[3]).map { .certificate($0) },
                key: .privateKey(NIOSSLPrivateKey(file: arguments[3], format: .pem)))
        case ("job", 1): try await doJob(at: arguments[0])
        case ("weather", 0): try await testWeather()
        default: return false
        }
        return true
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        return url
    }
}
