// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// How far a task has come on its way to the response that is its result.
struct Course {
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
        var failures = 0
        var authority: Authority?
    }

    init(request: SessionRequest, source: UploadSource?) {
        self.request = request
        self.source = source
    }
}

/// What a response means for its task.
enum Following {
    /// Another request has to be made.
    case another
    /// It is the result.
    case result
}
