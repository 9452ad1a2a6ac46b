// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// The three questions of `pintle init` at a terminal.
enum StarterQuestions {
    static func ask() throws(CommandFailure) -> Starter {
        let names = StarterPurpose.allCases.map(\.rawValue)
        let name = try self.answer("What is the configuration for: \(names.joined(separator: ", "))?", else: names[0])
        guard let purpose = StarterPurpose(rawValue: name) else {
            throw CommandFailure(
                .usage, "pintle init: \(name) is none of \(names.joined(separator: ", "))\(name.hint(of: names))")
        }
        var starter = Starter(purpose)
        let subjects = try self.answer(starter.question, else: starter.subjects.joined(separator: " "))
        starter.subjects = subjects.split { $0 == " " || $0 == "," }.map(String.init)
        starter.listen = try self.answer("On which address do clients reach Pintle?", else: starter.listen)
        return starter
    }

    /// - Parameter usual: stands for an empty line.
    private static func answer(_ question: String, else usual: String) throws(CommandFailure) -> String {
        Output.status("\(question) [\(usual)] ")
        guard let line = readLine() else {
            Output.status("\n")
            throw CommandFailure(.usage, "pintle init: there is no answer, so nothing was written; --for asks nothing")
        }
        let words = line.split(separator: " ").joined(separator: " ")
        return words.isEmpty ? usual : words
    }
}
