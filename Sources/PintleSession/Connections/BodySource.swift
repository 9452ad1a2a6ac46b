// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The next step of a request's body.
enum BodyStep {
    /// There are bytes to send.
    case bytes
    /// There are none now.
    case wait
    case end
}

/// The body of a request, which its connection takes piece by piece.
protocol BodySource: AnyObject {
    /// The next step of the body; asked when there is room for it.
    var nextStep: BodyStep { get }
    /// The fields after the body, if it is sent in chunks.
    var trailersToSend: Fields { get }
    /// Offers bytes of the body, as many as are in one piece.
    ///
    /// - Parameter body: returns the number of bytes that it takes.
    /// - Returns: that number.
    func takeBody(_ body: (UnsafeRawBufferPointer) -> Int) -> Int
}
