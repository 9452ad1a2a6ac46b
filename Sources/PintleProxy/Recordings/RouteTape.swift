// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCoding
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem
internal import PintleTape

/// The recordings of one route: the tape that is played, and the queue of what is written. Shared by all loops.
final class RouteTape: Sendable {
    /// Opens the stream to the origin.
    typealias Connect = (TransferRequest, any TransferDelegate) -> any OriginStream

    let rules: ReplayRules
    let tape: Tape
    let recorder: TapeRecorder

    /// - Parameters:
    ///   - injected: the texts that the route puts into requests, which are masked.
    ///   - recorder: writes the recordings of all routes.
    init(_ rules: ReplayRules, injected: [String], _ recorder: TapeRecorder) {
        self.rules = rules
        self.recorder = recorder
        self.tape = Tape(Self.settings(rules, injected: injected))
    }

    static func settings(_ rules: ReplayRules, injected: [String]) -> Tape.Settings {
        var settings = Tape.Settings(path: rules.tape)
        (settings.match, settings.order) = (rules.match, rules.order)
        settings.redaction = TapeRedaction(rules.recordings.redact, injected: injected)
        return settings
    }

    /// The most bytes of a body that are kept.
    var limit: Int { self.rules.recordings.bodies }

    /// True if a request is found without its body.
    var ignoresBodies: Bool { !self.rules.match.parts.contains(.body) }

    /// Finds the recording for a request. Blocks.
    func find(_ request: TapeRequest, gap: String?) -> Result<Recording, TapeMiss> {
        if let gap, !self.ignoresBodies { return .failure(TapeMiss(.incomplete, gap)) }
        let oldest = self.rules.miss == .record ? self.oldest : nil
        return Result { () throws(TapeMiss) in
            try self.tape.find(ContentUnpacking.request(request, limit: self.limit).request, since: oldest)
        }
    }

    /// The time before which recordings are too old; nil for no such time.
    private var oldest: Timestamp? {
        self.rules.recordings.maxAge.map { age in
            Timestamp(milliseconds: Timestamp.now().milliseconds - age.components.seconds * 1000)
        }
    }

    /// Writes what was observed, on another thread.
    func write(_ observed: RawRecording) {
        let (tape, limit) = (self.tape, self.limit)
        self.recorder.add(bytes: observed.bytes) { () throws(TapeError) in
            try tape.add(observed.recording(limit: limit))
        }
    }

    /// Compares what was observed with its recording. Blocks.
    ///
    /// - Returns: a sentence for each difference.
    func differences(of observed: RawRecording) -> [String] {
        let recording = observed.recording(limit: self.limit)
        do throws(TapeMiss) {
            let recorded = try self.tape.find(recording.request)
            if let gap = recording.gap { return ["the answer cannot be compared with its recording: \(gap)"] }
            return self.tape.differences(recorded, from: recording.response, to: recording.request)
        } catch {
            return ["there is nothing to compare with: \(error)"]
        }
    }
}
