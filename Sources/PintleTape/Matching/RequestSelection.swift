// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The selection of a request: a range of the content of its resource, and conditions on the state.
///
/// Some answers are only for requests with the same selection: a 206 and a 416 for the range (RFC 9110 §15.3.7, §15.5.17), a 304
/// and a 412 for the conditions (§15.4.5, §15.5.13). All others are for any request, since a server may ignore a range (§14.2).
struct RequestSelection: Sendable, Equatable {
    /// The value of Range; nil without one.
    let range: String?
    /// The conditions: tags with their values, dates without, since those of played answers are moved; nil without any.
    let conditions: String?

    init(_ request: TapeRequest) {
        self.range = request.fields["Range"]
        self.conditions = Self.conditions(request.fields)
    }

    /// The selection that a request must have to get a recorded answer.
    init(neededFor recording: Recording) {
        let (status, selection) = (recording.response.head.status, RequestSelection(recording.request))
        self.range = status == 206 || status == 416 ? selection.range : nil
        self.conditions = status == 304 || status == 412 ? selection.conditions : nil
    }

    private static func conditions(_ fields: Fields) -> String? {
        var conditions: [String] = []
        for name in ["If-Match", "If-None-Match"] where fields.contains(name) {
            conditions.append("\(name): \(fields.values(of: name).joined(separator: ", "))")
        }
        conditions += ["If-Modified-Since", "If-Unmodified-Since"].filter { fields.contains($0) }
        return conditions.isEmpty ? nil : conditions.joined(separator: ", ")
    }

    /// True if an answer that needs this selection is for a request with that one.
    func fits(_ request: RequestSelection) -> Bool {
        (self.range == nil || self.range == request.range)
            && (self.conditions == nil || self.conditions == request.conditions)
    }

    /// The part that a request lacks, in words.
    func missing(in request: RequestSelection) -> String {
        if let range, range != request.range { return "its Range, \(range)" }
        return "its conditions, \(self.conditions ?? "none")"
    }
}

/// The recordings of equal requests, in their order, and which of them were played.
struct EqualRecordings: Sendable {
    private struct Member {
        let index: Int
        let selection: RequestSelection
        var wasPlayed = false
    }

    private var members: [Member] = []
    /// The number of members at the beginning that were all played.
    private var played = 0

    /// - Parameter selection: the one that a request must have to get the answer.
    mutating func add(_ index: Int, for selection: RequestSelection) {
        self.members.append(Member(index: index, selection: selection))
    }

    /// Returns the index of the recording for a request, and counts it as played; nil if none is for it.
    mutating func play(_ selection: RequestSelection, _ order: TapeOrder) -> Int? {
        var part: Int?
        // The part that is asked for comes before the whole.
        if selection.range != nil { part = self.place(order) { $0.range != nil && $0.fits(selection) } }
        guard let place = part ?? self.place(order, where: { $0.fits(selection) }) else { return nil }
        self.members[place].wasPlayed = true
        while self.played < self.members.count, self.members[self.played].wasPlayed { self.played += 1 }
        return self.members[place].index
    }

    private func place(_ order: TapeOrder, where isMeant: (RequestSelection) -> Bool) -> Int? {
        if order == .first { return self.members.firstIndex { isMeant($0.selection) } }
        return self.members[self.played...].firstIndex { !$0.wasPlayed && isMeant($0.selection) }
            ?? self.members.lastIndex { isMeant($0.selection) }
    }
}
