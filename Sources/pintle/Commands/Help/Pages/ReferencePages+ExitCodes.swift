// SPDX-License-Identifier: Apache-2.0

extension ReferencePages {
    static var exitCodes: ReferencePage {
        let general = ProcessExit.allCases.filter { !$0.isOfRun }
        let ofRun = ProcessExit.allCases.filter(\.isOfRun)
        return ReferencePage(
            topic: .exitCodes,
            introduction: [
                "Data goes to standard output, everything else to standard error, so that a script can rely on the code and on "
                    + "what it reads. The help of each command says what its 1 means."
            ],
            sections: [
                .init(title: "All commands", kind: "code", entries: general.map(\.entry)),
                .init(
                    title: "`pintle run`",
                    text:
                        "The command's own code if it is not 0. So these need not come from Pintle, but its own codes are these.",
                    kind: "code",
                    entries: [
                        .init("0", "The command succeeded, and nothing happened that `--fail-on` names."),
                        .init(
                            "1",
                            "The command succeeded, and something happened that `--fail-on` names, by default a denial or a violation."
                        ),
                    ] + ofRun.map(\.entry) + [
                        .init(
                            "128+n",
                            "A signal with the number n ended the command: 130 for SIGINT, 137 for SIGKILL, 143 for SIGTERM."
                        )
                    ]),
            ], more: ["run.md"])
    }
}

extension ReferencePage.Entry {
    fileprivate init(_ term: String, _ text: String) { self.init(term, [], text) }
}

extension ProcessExit {
    /// True for codes that only `run` has, because those below are its command's.
    fileprivate var isOfRun: Bool {
        switch self {
        case .success, .found, .usage, .configuration, .incomplete: false
        case .runFailed, .cannotExecute, .notFound: true
        }
    }

    fileprivate var entry: ReferencePage.Entry { .init("\(self.rawValue)", self.meaning) }

    private var meaning: String {
        switch self {
        case .success: "Success. `pintle serve` ends with it after a clean stop."
        case .found:
            "The job ran and found something: a failed audit or test, a rejected chain, an answer that breaks its contract, a "
                + "reload that would refuse hosts, a `wait` whose time-out has passed."
        case .usage: "The command line is wrong; the message says how it is written."
        case .configuration:
            "The configuration, or another file that the command reads as one, is invalid; each error has its line."
        case .incomplete:
            "The work could not be completed: a host cannot be reached, an address cannot be bound, a file cannot be read or "
                + "written, no proxy runs."
        case .runFailed:
            "Pintle failed: options, configuration, a report that cannot be written. The command may not have run."
        case .cannotExecute: "The command exists, but cannot be executed."
        case .notFound: "There is no such command."
        }
    }
}
