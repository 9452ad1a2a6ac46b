// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleTape

/// The place and the form of recordings: `recordings`.
package struct RecordingsConfiguration: Sendable, Equatable {
    /// The folder in which tapes are, already relative to the process. Default nil: `recordings` beside the file.
    package var path: String?
    /// The most bytes of a body that are kept. Default 1 MiB.
    package var bodies = 1 << 20
    /// The places that are masked, beside those that always are. Default none.
    package var redact: [RedactionRule] = []
    /// The age from which a recording is to be made anew. Default nil: none.
    package var maxAge: Duration?

    package init() {}

    /// The time before which recordings are too old; nil if their age does not matter.
    package func oldest(at now: Timestamp) -> Timestamp? {
        self.maxAge.map { Timestamp(milliseconds: now.milliseconds - $0.components.seconds * 1000) }
    }

    static let lengths = 1 << 10...TapeFolder.longestBody
    static let ages: ClosedRange<Duration> = .seconds(1) ... .seconds(3650 * 86_400)
}

/// The use of recordings by a route: `replay`.
package struct ReplayRules: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable {
        case record
        case replay
        /// The origin answers, and what differs from its recording is told.
        case compare
    }

    /// The treatment of a request without a recording.
    package enum Miss: String, Sendable, CaseIterable {
        /// It is refused, without a connection or a look-up.
        case fail
        case forward
        /// It is forwarded, and its answer is recorded.
        case record
    }

    package enum Timing: String, Sendable, CaseIterable {
        case atOnce = "at_once"
        /// Answers take the time that they took when they were recorded.
        case recorded
    }

    package var mode = Mode.replay
    /// The path of the folder or the archive, already relative to the process.
    package var tape: String
    package var match = MatchRules()
    /// Default `sequence`.
    package var order = TapeOrder.sequence
    /// Default `fail`.
    package var miss = Miss.fail
    /// True if dates are moved to now. Default false.
    package var refreshes = false
    /// Default `at_once`.
    package var timing = Timing.atOnce
    package var recordings = RecordingsConfiguration()

    package init(tape: String) { self.tape = tape }

    /// True if clients may get an answer that the origin does not give now.
    package var simulates: Bool { self.mode == .replay }

    /// In a few words, for summaries.
    package var words: String {
        switch self.mode {
        case .record: "records into \(self.tape)"
        case .compare: "compares answers with \(self.tape)"
        case .replay:
            switch self.miss {
            case .fail: "plays \(self.tape)"
            case .forward: "plays \(self.tape), and forwards the rest"
            case .record: "plays \(self.tape), and records the rest"
            }
        }
    }
}

extension Configuration {
    /// Puts the tapes of the routes under `recordings.path`, and gives their rules the settings of all.
    ///
    /// - Parameter folder: the default of the path, already relative to the process.
    mutating func placeTapes(in folder: String) {
        for index in self.routes.indices {
            guard let tape = self.routes[index].simulation.replay?.tape else { continue }
            self.routes[index].simulation.replay?.tape = "\(self.recordings.path ?? folder)/\(tape)"
            self.routes[index].simulation.replay?.recordings = self.recordings
        }
    }
}
