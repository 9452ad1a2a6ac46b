// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// How far a task has come on its way to the response that is its result.
struct TaskAttempts {
    /// The request of the task, with which each attempt begins, and the body that it has.
    let original: SessionRequest
    private let originalSource: UploadSource?
    /// Counts the attempts from 1; 0 before the first.
    private(set) var number = 0
    /// The outcomes of the attempts before this one.
    private(set) var outcomes: [Interceptor.Outcome] = []
    /// The request that is to be made now.
    var request: SessionRequest
    /// Its body; nil where there is none.
    var source: UploadSource?
    /// Whether the body was, in part at least, sent before.
    var resendsBody = false
    var redirects = 0
    /// How often a connection broke whose request can be made again.
    var retries = 0
    /// What was answered to challenges: the origin's, and the proxy's.
    var origin = Answers()
    var proxy = Answers()

    /// The answers to one asker.
    struct Answers {
        /// How many were sent.
        var count = 0
        /// How many of them were wrong, by what was answered: a scheme, or any that takes a password.
        var failures: [String: Int] = [:]
        /// Whether what was sent holds for one target only, as an answer to Digest does.
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
        // Keeps the body that a hook gave for an upload without a source.
        if next.source == nil { next.source = self.source }
        self = next
    }

    /// Notes what this attempt has come to, as another one follows.
    mutating func end(with outcome: Interceptor.Outcome) { self.outcomes.append(outcome) }

    /// True where another attempt could have its body.
    func canRepeatBody(asking hooks: SessionHooks) -> Bool {
        guard case .stream(let stream) = self.originalSource ?? self.source else { return true }
        return stream.isReplayable || hooks.needsBody != nil
    }

    /// Forgets the answers that are worth nothing after a redirect from `previous`: they do not count as failures of
    /// the next ones. A redirect to another origin has taken the fields away already.
    mutating func forgetAnswers(after previous: SessionRequest) {
        let isElsewhere = !self.request.url.isSameOrigin(as: previous.url)
        for (answers, name) in [(\Self.origin, "Authorization"), (\Self.proxy, "Proxy-Authorization")] {
            let isForOneTarget = self[keyPath: answers].isForOneTarget
            guard isElsewhere || isForOneTarget else { continue }
            self[keyPath: answers] = Answers()
            // What a hook has put in its place stays.
            if isForOneTarget, self.request.fields[name] == previous.fields[name] { self.request.fields.remove(name) }
        }
    }
}

/// What a response means for its task.
enum Following {
    /// Another request has to be made.
    case another
    /// It is the result.
    case result
}
