// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
internal import PintleSystem

/// A tape in use: finds the recordings of requests, keeps their order, and adds new ones.
///
/// It is read when it is first asked. Finding and adding block, so they run on threads that are no event loops.
package final class Tape: Sendable {
    /// The place and the rules of a tape. One of equal settings continues over a reload.
    package struct Settings: Sendable, Equatable {
        /// The path of a folder, or of an archive (`.har`).
        package var path: String
        package var match = MatchRules()
        package var order = TapeOrder.sequence
        package var redaction = TapeRedaction()

        package init(path: String) { self.path = path }

        /// True if the path leads to an HTTP archive, which is only read.
        package var isArchive: Bool { self.path.hasSuffix(".har") }
    }

    private struct Entry: Sendable {
        /// The name of the document, or the number of the entry in an archive.
        let name: String
        let key: ComparableRequest
        /// The selection that a request must have to get the answer.
        let selection: RequestSelection
        let time: Timestamp
        let gap: String?
        /// The recording, if it comes from an archive.
        let held: Recording?
    }

    private struct Content: Sendable {
        var entries: [Entry] = []
        var byKey: [ComparableRequest: EqualRecordings] = [:]
        /// Recordings that cannot be read.
        var faults = 0
        /// The reason why there is no tape; nil if there is one.
        var failure: TapeError?

        mutating func add(_ entry: Entry) {
            self.byKey[entry.key, default: EqualRecordings()].add(self.entries.count, for: entry.selection)
            self.entries.append(entry)
        }
    }

    package let settings: Settings
    private let folder: TapeFolder
    private let content = Locked<Content?>(nil)

    package init(_ settings: Settings) {
        (self.settings, self.folder) = (settings, TapeFolder(settings.path))
    }

    // MARK: Playing

    /// Finds the recording that answers a request, and counts it as played.
    ///
    /// - Parameters:
    ///   - request: as it goes to the origin, with its secrets.
    ///   - newest: a recording from before is no match; nil if its age does not matter.
    package func find(_ request: TapeRequest, since newest: Timestamp? = nil) throws(TapeMiss) -> Recording {
        let masked = self.settings.redaction.masked(request)
        let (key, selection) = (ComparableRequest(masked, self.settings.match), RequestSelection(masked))
        let content = self.loaded()
        let index = self.content.withLock { $0?.byKey[key]?.play(selection, self.settings.order) }
        guard let index, let entry = self.content.withLock({ $0?.entries[index] }) else {
            throw self.miss(masked, key, content)
        }
        if let gap = entry.gap {
            throw TapeMiss(.incomplete, "the recording \(entry.name) has no body: \(gap)")
        }
        if let newest, entry.time < newest {
            throw TapeMiss(.unknown, "the recording \(entry.name) is from \(entry.time), and older than max_age")
        }
        return try self.recording(entry)
    }

    private func recording(_ entry: Entry) throws(TapeMiss) -> Recording {
        if let held = entry.held { return held }
        do throws(TapeError) {
            return try self.folder.recording(entry.name)
        } catch {
            throw TapeMiss(.unreadable, "the recording \(entry.name) cannot be played: \(error)")
        }
    }

    /// The recordings and the entries that cannot be read.
    private func loaded() -> Content {
        if let content = self.content.withLock({ $0 }) { return content }
        // Two threads may read the tape at the same time; the first one's result is taken.
        let read = self.read()
        return self.content.withLock { content in
            if content == nil { content = read }
            return content ?? read
        }
    }

    private func read() -> Content {
        var content = Content()
        do throws(TapeError) {
            if self.settings.isArchive {
                let archive = try TapeArchive.read(self.settings.path)
                content.faults = archive.faults
                for (number, recording) in archive.recordings.enumerated() {
                    content.add(self.entry("entry \(number + 1)", recording, isHeld: true))
                }
                return content
            }
            for name in try self.folder.names() where TapeFolder.isDocument(name) {
                guard content.entries.count < TapeFolder.mostRecordings else {
                    throw TapeError(self.settings.path, "more than \(TapeFolder.mostRecordings) recordings")
                }
                do throws(TapeError) {
                    let document = try self.folder.document(name)
                    var recording = document.recording
                    recording.request.body = try self.folder.body(document.requestBody)
                    content.add(self.entry(name, recording, isHeld: false))
                } catch {
                    content.faults += 1
                }
            }
        } catch {
            content.failure = error
        }
        return content
    }

    private func entry(_ name: String, _ recording: Recording, isHeld: Bool) -> Entry {
        // Masked once more: an archive, or a recording that a person has written, may have secrets.
        let key = ComparableRequest(self.settings.redaction.masked(recording.request), self.settings.match)
        return Entry(
            name: name, key: key, selection: RequestSelection(neededFor: recording), time: recording.time,
            gap: recording.gap, held: isHeld ? recording : nil)
    }

    // MARK: Misses

    private func miss(_ request: TapeRequest, _ key: ComparableRequest, _ content: Content) -> TapeMiss {
        if let failure = content.failure { return TapeMiss(.unreadable, "the tape cannot be read: \(failure)") }
        var reason =
            "\(self.settings.path) has no recording of \(request.method) \(request.url) among its \(content.entries.count)"
        let selection = RequestSelection(request)
        var near: [(entry: Entry, difference: ComparableRequest.Difference)] = []
        for entry in content.entries {
            var differences = key.differences(from: entry.key)
            if !entry.selection.fits(selection) { differences.append(.selection) }
            if differences.count == 1 { near.append((entry, differences[0])) }
            // With two it is not clear which is meant.
            if near.count == 2 { break }
        }
        if near.count == 1 {
            reason +=
                "; \(near[0].entry.name) differs only in \(self.words(near[0].difference, near[0].entry, request, key))"
        }
        if content.faults > 0 {
            reason += "; \(content.faults) files cannot be read, which `pintle tapes lint` tells"
        }
        return TapeMiss(.unknown, reason)
    }

    private func words(
        _ difference: ComparableRequest.Difference, _ entry: Entry, _ request: TapeRequest, _ key: ComparableRequest
    ) -> String {
        switch difference {
        case .method: return "its method, \(entry.key.method ?? "")"
        case .url: return "its URL, \(entry.key.url ?? "")"
        case .field(let index): return "a field: \(key.fields[index]) here, \(entry.key.fields[index]) there"
        case .selection: return entry.selection.missing(in: RequestSelection(request))
        case .body:
            guard let recorded = try? self.recording(entry).request else { return "its body" }
            let there = ComparableBody(self.settings.redaction.masked(recorded), self.settings.match)
            return "its body: \(ComparableBody(request, self.settings.match).difference(from: there))"
        }
    }

    // MARK: Recording

    /// Adds a recording with its secrets masked.
    ///
    /// - Returns: the name of its file.
    @discardableResult
    package func add(_ recording: Recording) throws(TapeError) -> String {
        guard !self.settings.isArchive else {
            throw TapeError(self.settings.path, "an archive is only played; give a folder as tape")
        }
        let masked = self.masked(recording)
        // Recordings of earlier runs come first.
        if self.content.withLock({ $0 == nil }) { _ = self.loaded() }
        let name = try self.folder.add(masked)
        let entry = self.entry(name, masked, isHeld: false)
        self.content.withLock { content in
            content?.failure = nil
            content?.add(entry)
        }
        return name
    }

    /// Returns a recording with its secrets masked.
    package func masked(_ recording: Recording) -> Recording {
        var (masked, secrets) = (recording, TapeRedaction.Secrets())
        masked.request = self.settings.redaction.masked(recording.request, &secrets)
        masked.response = self.settings.redaction.masked(recording.response, secrets)
        return masked
    }

    /// The differences between a recording and the response that the origin has given now: of the status, the media type and the
    /// body, each as a sentence.
    package func differences(_ recording: Recording, from response: TapeResponse, to request: TapeRequest) -> [String] {
        var secrets = TapeRedaction.Secrets()
        _ = self.settings.redaction.masked(request, &secrets)
        return ResponseDifferences.find(
            self.settings.redaction.masked(response, secrets), recording.response, self.settings.match)
    }
}
