// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The progress of a task towards the response that is its result.
struct TaskAttempts {
    /// The request of the task with its body, with which each attempt begins.
    let original: SessionRequest
    private let originalSource: UploadSource?
    /// The number of the current attempt, counted from 1; 0 before the first.
    private(set) var number = 0
    /// The outcomes of the attempts before this one.
    private(set) var outcomes: [Interceptor.Outcome] = []
    /// The next request to make.
    var request: SessionRequest
    /// The body of that request; nil if there is none.
    var source: UploadSource?
    /// True if the body was sent before, at least in part.
    var resendsBody = false
    var redirects = 0
    /// The number of requests that were made again because their connection broke.
    var retries = 0
    /// The answers to challenges of the origin and of the proxy.
    var origin = Answers()
    var proxy = Answers()

    /// The answers to the challenges of one server or proxy.
    struct Answers {
        /// The number of answers that were sent.
        var count = 0
        /// The number of refused answers by kind: a scheme, or `password` for every scheme that takes one.
        var failures: [String: Int] = [:]
        /// True if the last answer is valid for one target only, like an answer to Digest.
        var isForOneTarget = false
        /// The negotiation that was begun.
        var negotiation: NegotiateContext?
    }

    init(request: SessionRequest, source: UploadSource?) {
        (self.original, self.request) = (request, request)
        (self.originalSource, self.source) = (source, source)
    }

    /// Begins an attempt with `request`.
    mutating func begin(_ request: SessionRequest) {
        var next = TaskAttempts(request: self.original, source: self.originalSource)
        (next.number, next.outcomes, next.resendsBody) = (self.number + 1, self.outcomes, self.resendsBody)
        next.request = request
        // Keeps the body that a hook returned for an upload without a source.
        if next.source == nil { next.source = self.source }
        self = next
    }

    /// Notes the outcome of this attempt, as another one follows.
    mutating func end(with outcome: Interceptor.Outcome) { self.outcomes.append(outcome) }

    /// True if another attempt can read its body again.
    func canRepeatBody(asking hooks: SessionHooks) -> Bool {
        guard case .stream(let stream) = self.originalSource ?? self.source else { return true }
        return stream.isReplayable || hooks.needsBody != nil
    }

    /// Drops the answers that have no value after a redirect from `previous`, so that they do not count as failures of
    /// later ones. If the redirect leads to another origin, the fields have been removed already.
    mutating func forgetAnswers(after previous: SessionRequest) {
        let isElsewhere = !self.request.url.isSameOrigin(as: previous.url)
        for (answers, name) in [(\Self.origin, "Authorization"), (\Self.proxy, "Proxy-Authorization")] {
            let isForOneTarget = self[keyPath: answers].isForOneTarget
            guard isElsewhere || isForOneTarget else { continue }
            self[keyPath: answers] = Answers()
            // A value that a hook has set instead stays.
            if isForOneTarget, self.request.fields[name] == previous.fields[name] { self.request.fields.remove(name) }
        }
    }
}

/// The meaning of a response for its task.
enum Following {
    /// Another request must be made.
    case another
    /// The response is the result.
    case result
}
