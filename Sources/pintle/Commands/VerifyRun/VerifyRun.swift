// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleAttestation
internal import PintleSystem
internal import PintleTrust

struct VerifyRun: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify-run",
        abstract: "Check a signed report of a run, and say what it states.",
        discussion: """
            The report is one of pintle run --report intoto=FILE --sign KEY. Its signature must be that of the key, and its sums \
            must follow from its exchanges. Exit code 0 when it holds, 1 when it does not.
            """)

    @Argument(help: ArgumentHelp("The signed report.", valueName: "report"), completion: .file())
    var report: String

    @Option(
        help: ArgumentHelp(
            "The public key that must have signed it, in PEM, as openssl pkey -in KEY -pubout writes it.",
            valueName: "file"), completion: .file())
    var key: String

    @Option(help: "How it is written; as JSON it is the whole statement, with each exchange.")
    var format = Format.text

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    func run() throws {
        let key: VerifyingKey
        do throws(TrustError) { key = try VerifyingKey(file: self.key) } catch {
            throw CommandFailure(.incomplete, "pintle verify-run: --key \(error)")
        }
        let bytes = try self.bytes()
        let statement: VerifiedStatement
        do throws(AttestationError) { statement = try VerifiedStatement(file: consume bytes, by: key) } catch {
            throw CommandFailure(.found, "pintle verify-run: \(self.report) does not hold: \(error)")
        }
        switch self.format {
        case .json: try statement.forEachLine { try Output.data(String(decoding: $0, as: UTF8.self)) }
        case .text: for line in StatementText(statement, by: key).lines { try Output.prose(line) }
        }
    }

    private func bytes() throws(CommandFailure) -> [UInt8] {
        do throws(SystemError) {
            return try FileBytes.read(
                self.report, atMost: SignedEnvelope.longestFile, behind: SignedEnvelope.room,
                beginningWith: SignedEnvelope.beginning)
        } catch {
            throw CommandFailure(.incomplete, "pintle verify-run: \(self.report) cannot be read: \(error)")
        }
    }
}
