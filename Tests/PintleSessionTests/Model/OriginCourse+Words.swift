// SPDX-License-Identifier: Apache-2.0

extension OriginCourse: CustomStringConvertible {
    /// The course in words, an event on each line.
    var description: String {
        let end =
            switch self.ending {
            case .finishes: "everything goes on to its end"
            case .cancels: "all requests are cancelled"
            case .closes: "the session ends"
            }
        return
            (self.greetings.enumerated().map { "every connection \($0) of \(self.greetings.count) says \($1)" }
            + self.steps.map(\.description) + [end]).joined(separator: "\n")
    }

    var simpler: [OriginCourse] {
        var courses: [OriginCourse] = []
        func add(_ index: Int, _ step: Step) {
            var course = self
            course.steps[index] = step
            courses.append(course)
        }
        for (index, step) in self.steps.enumerated() {
            switch step {
            case .asks(let request):
                var simple = request
                (simple.fields, simple.expects, simple.isFollowed) = (0, false, false)
                if request.fields > 0 || request.expects || request.isFollowed { add(index, .asks(simple)) }
                if request.size > 1 {
                    simple = request
                    simple.size = 1
                    add(index, .asks(simple))
                }
            case .head(let stream, let head):
                let simple = Head(status: head.status, length: head.length, size: min(1, head.size))
                if head.fields > 0 || head.size > 1 || head.cut > 0 || head.isPadded || head.hasPriority
                    || head.isIndexed
                {
                    add(index, .head(stream: stream, simple))
                }
            default: break
            }
        }
        for index in self.greetings.indices where !self.greetings[index].isPlain {
            var course = self
            course.greetings[index] = Greeting()
            courses.append(course)
        }
        if self.ending != .finishes {
            var course = self
            course.ending = .finishes
            courses.append(course)
        }
        return courses
    }
}

extension OriginCourse.Greeting: CustomStringConvertible {
    var isPlain: Bool { self.window == nil && self.streams == nil && self.frame == nil && !self.isLate }

    var description: String {
        var words: [String] = []
        if let window { words.append("windows of \(window)") }
        if let streams { words.append("\(streams) streams") }
        if let frame { words.append("frames of \(frame)") }
        if self.isLate { words.append("later") }
        return words.isEmpty ? "nothing of itself" : words.joined(separator: ", ")
    }
}

extension OriginCourse.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .asks(let request):
            var words = "a request: \(request.method)"
            if request.body != .none { words += ", \(request.body.rawValue) body of \(request.size)" }
            if request.fields > 0 { words += ", \(request.fields) bytes of fields" }
            if request.expects { words += ", expecting 100" }
            return request.isFollowed ? words + ", followed by another" : words
        case .gives(let request, let count): return "request \(request) gives up to \(count) bytes"
        case .endsBody(let request, let trailers):
            return "request \(request) gives the rest\(trailers ? " and trailers" : "")"
        case .pauses(let request): return "request \(request) takes nothing"
        case .readsOn(let request): return "request \(request) takes what comes"
        case .cancels(let request): return "request \(request) is cancelled"
        case .greets(let connection): return "connection \(connection) sends its settings if it is late"
        case .interim(let stream, let status): return "stream \(stream) sends \(status)"
        case .head(let stream, let head):
            var words = "stream \(stream) answers \(head.status), \(head.size) bytes, length: \(head.length.rawValue)"
            if head.fields > 0 { words += ", \(head.fields) bytes of fields" }
            if head.cut > 0 { words += ", cut at \(head.cut)" }
            if head.isPadded { words += ", padded" }
            if head.hasPriority { words += ", with priority" }
            if head.isIndexed { words += ", indexed" }
            return head.endsStream ? words + ", at its end" : words
        case .sends(let stream, let count, let piece, let padding):
            return "stream \(stream) sends up to \(count) bytes in frames of \(piece) and \(padding)"
        case .ends(let stream, let trailers, let resets):
            return "stream \(stream) sends the rest, ends\(trailers ? " with trailers" : "")\(resets ? ", resets" : "")"
        case .resets(let stream, let code): return "stream \(stream) is reset: \(code)"
        case .opensWindow(let stream, let count): return "stream \(stream) may have \(count) bytes more"
        case .opensConnectionWindow(let connection, let count):
            return "connection \(connection) may have \(count) bytes more"
        case .settings(let connection, let greeting): return "connection \(connection) says \(greeting)"
        case .goAway(let connection, let last, let code):
            return "connection \(connection) goes away: \(last.rawValue), code \(code)"
        case .closes(let connection, let close): return "connection \(connection) ends: \(close.rawValue)"
        case .noise(let connection, let noise): return "connection \(connection) sends \(noise.rawValue)"
        case .breaks(let connection, let breach): return "connection \(connection) breaks: \(breach.rawValue)"
        case .errs(let stream, let misdeed): return "stream \(stream) breaks: \(misdeed.rawValue)"
        case .verdictEnds: return "the verdict on the server runs out"
        case .seconds: return "seconds pass"
        case .settle: return "all is taken"
        }
    }
}
