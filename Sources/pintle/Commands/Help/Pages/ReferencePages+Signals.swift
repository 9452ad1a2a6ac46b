// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import UnixSignals

extension ReferencePages {
    static var signals: ReferencePage {
        ReferencePage(
            topic: .signals,
            introduction: [
                "Signals that a command does not name have the effect that the system gives them."
            ],
            sections: [
                .init(
                    title: "`pintle serve`", kind: "signal",
                    entries: Service.signals.map { Self.served($0.rawValue) }),
                .init(
                    title: "`pintle run`", text: "Signals that are sent to Pintle reach the command.", kind: "signal",
                    entries: SignalRelay.caught.filter { $0 != SIGCHLD }.map(Self.relayed)),
                .init(
                    title: "`pintle fetch`", kind: "signal",
                    entries: Fetcher.signals.map {
                        .init(
                            Self.name(of: $0.rawValue), [],
                            "The first cancels the transfers and keeps what has arrived, for `--resume`; the second exits at once."
                        )
                    }),
                .init(
                    title: "`pintle top`, at a terminal", kind: "signal",
                    entries: TopWatch.signals.map {
                        .init(
                            Self.name(of: $0), [],
                            $0 == SIGWINCH
                                ? "Draws the screen anew, for its new size." : "Gives the terminal back, and ends.")
                    }),
                .init(
                    title: "`pintle doctor`", kind: "signal",
                    entries: ClientRun.signals.filter { $0 != SIGCHLD }.map {
                        .init(
                            Self.name(of: $0), [],
                            "Kills the program that is tried, removes the temporary folder, and ends.")
                    }),
            ], more: ["configuration.md", "run.md"])
    }

    private static func served(_ number: Int32) -> ReferencePage.Entry {
        let text =
            switch number {
            case SIGHUP:
                "Reloads the configuration and opens the exchange log again. If the file is wrong, the running configuration "
                    + "stays, and the log says why."
            case SIGUSR1: "Logs the counters and the turns of the engine's threads."
            default:
                "Stops: no new connections; exchanges may end within `limits.drain_timeout`. A second one exits at once."
            }
        return .init(self.name(of: number), [], text)
    }

    private static func relayed(_ number: Int32) -> ReferencePage.Entry {
        let text =
            switch number {
            case SIGTERM: "Passed on; the command is killed if it still runs after `limits.drain_timeout`."
            case SIGINT: "Passed on. If it ends the command, Pintle ends by it, too, so that a script or a loop stops."
            case SIGCONT: "Continues the command, if it was stopped."
            default: "Passed on."
            }
        return .init(self.name(of: number), [], text)
    }

    /// Returns the name of one of the signals that commands catch.
    static func name(of number: Int32) -> String {
        switch number {
        case SIGINT: "SIGINT"
        case SIGTERM: "SIGTERM"
        case SIGHUP: "SIGHUP"
        case SIGQUIT: "SIGQUIT"
        case SIGUSR1: "SIGUSR1"
        case SIGUSR2: "SIGUSR2"
        case SIGWINCH: "SIGWINCH"
        case SIGTSTP: "SIGTSTP"
        case SIGCONT: "SIGCONT"
        case SIGCHLD: "SIGCHLD"
        default: "\(number)"
        }
    }
}
