// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePolicy

/// The purposes for which `pintle init` writes a configuration.
enum StarterPurpose: String, ExpressibleByArgument, CaseIterable {
    case build, gateway, audit, team
}

/// The answers from which `pintle init` makes its files.
struct Starter: Equatable {
    let purpose: StarterPurpose
    /// The words of the second answer: hosts and presets of a build, the URL of a service, hosts to audit, networks of a team.
    var subjects: [String]
    /// The address for clients.
    var listen: String

    /// Makes the answers that empty lines stand for.
    init(_ purpose: StarterPurpose) {
        self.purpose = purpose
        switch purpose {
        case .build: (self.subjects, self.listen) = (["preset:github", "preset:pypi", "preset:npm"], "127.0.0.1:3128")
        case .gateway: (self.subjects, self.listen) = (["http://127.0.0.1:9000/"], "127.0.0.1:8080")
        case .audit: (self.subjects, self.listen) = (["api.example.com"], "127.0.0.1:3128")
        case .team: (self.subjects, self.listen) = (["127.0.0.0/8", "10.0.0.0/8"], "0.0.0.0:3128")
        }
    }

    /// The second question.
    var question: String {
        switch self.purpose {
        case .build: "Which hosts may the build reach? Names, or lists of `pintle check --presets`"
        case .gateway: "Which URL has the service behind the gateway?"
        case .audit: "Which hosts are audited?"
        case .team: "In which networks are the team's machines?"
        }
    }

    /// A command that uses the file.
    func nextStep(_ file: String) -> String {
        switch self.purpose {
        case .build: "pintle run -c \(file) -- COMMAND"
        case .gateway, .team: "pintle serve -c \(file)"
        case .audit: "pintle audit -c \(file)"
        }
    }

    /// The hosts that a build may reach, of presets, too.
    var hosts: [String] {
        self.subjects.flatMap { subject in
            Preset.all.first { "preset:\($0.name)" == subject }?.allow ?? [subject]
        }
    }
}
