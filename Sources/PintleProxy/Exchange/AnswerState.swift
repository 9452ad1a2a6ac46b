// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// The state of the response to a client.
enum AnswerState {
    /// Nothing was sent to the client except interim responses.
    case none
    /// The response is held back until it can be validated.
    case inspected(ResponseInspection)
    /// The response is a redirect, which is followed when its rest has arrived. Indirect, because the state is read often, and
    /// so stays as small as its other cases.
    indirect case redirected(RedirectTrail.Hop)
    /// The head was sent, and the body follows.
    case passing(ResponseInspection?)
    /// Everything was sent, or will never be; or the connections belong to a tunnel now.
    case over

    /// The inspection of the response, if there is one.
    var inspection: ResponseInspection? {
        switch self {
        case .inspected(let inspection), .passing(.some(let inspection)): inspection
        case .none, .redirected, .passing(nil), .over: nil
        }
    }
}
