// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleCoding
internal import PintleLoop
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
    private let recorder: TapeRecorder
    /// Count the recordings that are lost.
    private let counters: RouteCounters

    /// - Parameters:
    ///   - injected: the texts that the route puts into requests, which are masked.
    ///   - recorder: writes the recordings of all routes.
    init(_ rules: ReplayRules, injected: [String], _ recorder: TapeRecorder, _ counters: RouteCounters) {
        self.rules = rules
        (self.recorder, self.counters) = (recorder, counters)
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
        let oldest = self.rules.miss == .record ? self.rules.recordings.oldest(at: .now()) : nil
        return Result { () throws(TapeMiss) in
            try self.tape.find(ContentUnpacking.request(request, limit: self.limit).request, since: oldest)
        }
    }

    /// Writes what was observed, on another thread.
    func write(_ observed: RawRecording) {
        if let loss = observed.loss { return self.recorder.lose(of: self.counters, loss) }
        let (tape, limit, recorder, counters) = (self.tape, self.limit, self.recorder, self.counters)
        recorder.add(bytes: observed.bytes, of: counters) { () throws(TapeError) in
            let recording = observed.recording(limit: limit)
            try tape.add(recording)
            if let gap = recording.gap { recorder.tell(ofGap: "\(Self.words(for: observed)): \(gap)", counters) }
        }
    }

    /// The most characters of a URL in a log line.
    private static let longestURL = 500

    /// Tells of an exchange whose answer was given up before its end. It has no recording, since a shorter answer would be played as a
    /// whole one.
    func giveUp(_ observed: RawRecording) {
        self.recorder.lose(
            of: self.counters,
            "\(Self.words(for: observed)): the answer was given up before its end, as by a client that leaves",
            at: .warning)
    }

    /// The method and the URL of an exchange. A query may have secrets.
    private static func words(for observed: RawRecording) -> String {
        "\(observed.request.method) \(observed.request.url.prefix { $0 != "?" }.prefix(Self.longestURL))"
    }

    /// Compares what was observed with its recording, on another thread.
    ///
    /// - Parameter proceed: gets a sentence for each difference, on the loop.
    func compare(_ observed: RawRecording, on loop: Loop, then proceed: @escaping ([String]) -> Void) {
        let box = LoopBound(proceed, loop: loop)
        do throws(SystemError) {
            try ThreadPool.shared.run {
                let differences = self.differences(of: observed)
                box.run { $0(differences) }
            }
        } catch {
            proceed(["the answer cannot be compared: the system has no thread: \(error)"])
        }
    }

    private func differences(of observed: RawRecording) -> [String] {
        if let loss = observed.loss { return ["the answer cannot be compared with its recording: \(loss)"] }
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
