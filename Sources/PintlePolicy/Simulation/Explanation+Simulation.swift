// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension SimulationRules {
    /// The rules that are for a request, in words, with their places. Counters and chance are not asked: they are told.
    func words(for request: SimulatedRequest) -> [(text: String, place: SourcePosition?)] {
        var lines: [(String, SourcePosition?)] = []
        for (index, fault) in self.faults.enumerated() where fault.when.accepts(request) {
            lines.append(("faults[\(index)] \(fault.words)\(fault.when.restriction)", fault.position))
        }
        for (index, mock) in self.mocks.enumerated() where mock.when.accepts(request) {
            lines.append(("mock[\(index)] \(mock.words)\(mock.when.restriction)", mock.position))
            // The rest is asked only if this one is used up, or not chosen.
            if mock.when.restriction.isEmpty { break }
        }
        if let replay { lines.append(("replay \(replay.words)", nil)) }
        return lines
    }
}

extension MockRule {
    fileprivate var words: String {
        let delay = self.delay.map { " after \($0.words)" } ?? ""
        switch self.answer {
        case .fixed(let answer): return "answers \(answer.status) in the origin's place\(delay)"
        case .contract(.examples): return "answers with an example of the contract, if it has one\(delay)"
        case .contract: return "answers as the contract says, if it can\(delay)"
        }
    }
}

extension FaultRule {
    fileprivate var words: String {
        var parts: [String] = []
        if let delay { parts.append("delays by \(delay.words)") }
        if let bytesPerSecond { parts.append("sends \(bytesPerSecond.spelledAsBytes)/s") }
        if let cutAfter { parts.append("breaks off after \(cutAfter.spelledAsBytes)") }
        switch self.ending {
        case nil: break
        case .answer(let answer): parts.append("answers \(answer.status) in the origin's place")
        case .contract(.broken): parts.append("answers as the contract forbids")
        case .contract: parts.append("answers as the contract allows, and clients forget")
        case .reset(.beforeResponse): parts.append("resets the connection before a response")
        case .reset(.withinResponse): parts.append("resets the connection within the response")
        case .limit(let limit): parts.append("lets \(limit.requests) requests pass in \(limit.length.spelled)")
        }
        return parts.joined(separator: ", ")
    }
}

extension SimulationCondition {
    /// The part of the requests, in parentheses; empty if the rule is for all of them.
    fileprivate var restriction: String {
        let unit =
            switch self.unit {
            case .route: ""
            case .url: " for each URL"
            case .client: " for each client"
            }
        let parts = [
            self.first.map { $0 == 1 ? "the first request\(unit)" : "the first \($0) requests\(unit)" },
            self.rate.map { "\(($0 * 1000).rounded() / 10) % of the requests" },
        ].compactMap(\.self)
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}

extension Latency {
    fileprivate var words: String {
        switch self {
        case .fixed(let duration): duration.spelled
        case .range(let min, let max): "\(min.spelled) to \(max.spelled)"
        case .normal(let mean, let deviation): "\(mean.spelled), give or take \(deviation.spelled)"
        case .longTailed(let median, let p99):
            "\(median.spelled), and one in a hundred times by more than \(p99.spelled)"
        }
    }
}
