// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// Tells what has become of the answer to a client.
enum AnswerState {
    /// Nothing was sent to the client but interim responses.
    case none
    /// The response is kept back until it can be judged.
    case inspected(ResponseInspection)
    /// The response is a redirect, which is followed as soon as the rest of it has come. Indirect, so that the state, which is
    /// asked for all the time, is as small as its other cases.
    indirect case redirected(RedirectTrail.Hop)
    /// The head was sent, and the body follows.
    case passing(ResponseInspection?)
    /// Everything was sent, or never will be; or the connections are a tunnel's.
    case over

    /// Looks at the response; nil where nobody does.
    var inspection: ResponseInspection? {
        switch self {
        case .inspected(let inspection), .passing(.some(let inspection)): inspection
        case .none, .redirected, .passing(nil), .over: nil
        }
    }
}
