// SPDX-License-Identifier: Apache-2.0

extension FrameCourse: CustomStringConvertible {
    /// The course in words, an event on each line.
    var description: String {
        let first =
            "under “\(FrameConfiguration.all[self.configuration].yaml)”, with windows of \(self.window)"
            + (self.lateness > 0 ? ", and settings acknowledged \(self.lateness) turns late" : "")
        let end =
            switch self.end {
            case .leaving: "everything goes on to its end, and the client leaves"
            case .draining: "everything goes on to its end, and the proxy drains the connection"
            case .breaking: "the client breaks the connection"
            }
        return ([first] + self.steps.map(\.description) + [end]).joined(separator: "\n")
    }
}

extension FrameCourse.Filling: CustomStringConvertible {
    var description: String { self.isEmpty ? "" : ", \(self.lines) lines of \(self.size) bytes" }
}

extension FrameCourse.Request: CustomStringConvertible {
    var description: String {
        var words = self.method + self.filling.description
        if self.form != .plain { words += ", fields \(self.form)" }
        if self.fault != .none { words += ", wrong: \(self.fault.rawValue)" }
        if self.isPadded { words += ", padded" }
        if self.hasPriority { words += ", with priority" }
        if self.cut < 1 << 14 { words += ", in frames of \(self.cut) bytes" }
        return self.body == .none ? words : words + ", a body of \(self.size) bytes, \(self.body.rawValue)"
    }
}

extension FrameCourse.Answer: CustomStringConvertible {
    var description: String {
        let end = self.endsWithHead ? ", and ends with its head" : ""
        return "\(self.status)\(self.filling), content \(self.version), its length \(self.length.rawValue)\(end)"
    }
}

extension FrameCourse.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .opens(let request): "the client asks: \(request)"
        case .sends(let stream, let count, let padding):
            "stream \(stream): the client sends up to \(count) bytes, with \(padding) of padding"
        case .endsBody(let stream): "stream \(stream): the client sends the rest, and ends its body"
        case .trailers(let stream): "stream \(stream): the client sends the rest, and trailers"
        case .resets(let stream): "stream \(stream): the client resets it"
        case .prioritizes(let stream): "stream \(stream): the client sends a priority"
        case .gives(let stream, let count): "stream \(stream): the client gives a window of \(count) bytes more"
        case .givesConnection(let count): "the client gives the connection a window of \(count) bytes more"
        case .setsWindow(let size): "the client sets the windows of streams to \(size)"
        case .setsTable(let size): "the client sets the header table to \(size)"
        case .setsFrame(let size): "the client sets the size of frames to \(size)"
        case .resizesTable(let size): "the client uses \(size) bytes of its header table"
        case .pings: "the client pings"
        case .unknown: "the client sends a frame of an unknown kind"
        case .goesAway: "the client says that it goes away"
        case .stopsReading: "the client stops reading"
        case .readsOn: "the client reads on"
        case .cuts(let size): "what the client sends comes in pieces of \(size) bytes"
        case .breaches(let breach): "the client breaks the protocol: \(breach.rawValue)"
        case .floods(let stream, let flood, let count): "stream \(stream): the client sends \(count) \(flood.rawValue)"
        case .oddWindow(let stream, let isZero):
            "stream \(stream): the client gives a window of \(isZero ? "0 bytes" : "too many bytes")"
        case .leaves: "the client leaves"
        case .interim(let origin, let filling): "origin \(origin) sends 103\(filling)"
        case .answers(let origin, let answer): "origin \(origin) answers: \(answer)"
        case .givesBody(let origin, let count): "origin \(origin) sends up to \(count) bytes"
        case .givesTrailers(let origin): "origin \(origin) sends the rest and trailers"
        case .ends(let origin): "origin \(origin) sends the rest, and ends"
        case .endsWhenGiven(let origin): "origin \(origin) ends from within the next call that gives it something"
        case .fails(let origin): "origin \(origin) breaks off"
        case .slows(let origin): "origin \(origin) takes no more of its body by itself"
        case .takes(let origin): "origin \(origin) takes what waits"
        case .memoryRunsShort: "others hold all memory"
        case .memoryIsFree: "others give it back"
        case .drains: "the proxy drains the connection"
        case .reload: "another configuration comes"
        case .turn: "a turn ends"
        case .second: "a second passes"
        case .hour: "two hours pass"
        }
    }
}
