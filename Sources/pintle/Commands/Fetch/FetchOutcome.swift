// SPDX-License-Identifier: Apache-2.0

internal import PintleSession
internal import PintleTrust

/// The result of one transfer.
struct FetchOutcome: Sendable {
    let target: FetchPlan.Target
    /// The task; nil if there was none, or if it is not known.
    let task: SessionTask?
    /// The failure; nil if the transfer succeeded.
    let failure: FetchFailure?

    init(_ target: FetchPlan.Target, _ task: SessionTask?, failure: FetchFailure?) {
        self.target = target
        self.task = task
        self.failure = failure
    }
}

/// The reason why a transfer failed: for the exit code, for programs, and for people.
struct FetchFailure: Error, Sendable, Equatable {
    let exit: ProcessExit
    /// The code as in the metrics: one word.
    let code: String
    /// The message, possibly of several lines.
    let message: String

    static let interrupted = FetchFailure(exit: .incomplete, code: "cancelled", message: "interrupted")

    init(exit: ProcessExit, code: String, message: String) {
        self.exit = exit
        self.code = code
        self.message = message
    }

    init(_ error: SessionError) {
        switch error.code {
        case .cancelled: self = .interrupted
        case .untrusted:
            self.init(exit: .found, code: error.code.rawValue, message: Self.words(for: error))
        case .rejected:
            let words = (error.underlying as? RejectedResponse)?.description ?? error.message
            self.init(exit: .found, code: error.code.rawValue, message: words)
        case .cleartext, .invalidURL, .invalidRequest, .dnsFailure, .connectFailure, .connectionRefused,
            .connectTimeout, .timeout, .networkUnreachable, .addressDenied, .tlsFailure, .malformedResponse, .truncated,
            .connectionBroken, .cannotSend, .cannotRewind, .tooLarge, .exhausted, .overloaded, .internalError,
            .unreadableSource,
            .cannotWrite,
            .badRedirect, .hookFailed, .cacheMiss, .undecodable, .invalidated, .invalidPolicy:
            self.init(exit: Self.exit(for: error.code), code: error.code.rawValue, message: error.description)
        }
    }

    static func exit(for code: SessionError.Code) -> ProcessExit {
        switch code {
        case .cleartext, .untrusted, .rejected: .found
        case .invalidURL, .invalidRequest: .usage
        case .dnsFailure, .connectFailure, .connectionRefused, .connectTimeout, .timeout, .networkUnreachable,
            .addressDenied, .tlsFailure, .malformedResponse, .truncated, .connectionBroken, .cannotSend, .cannotRewind,
            .tooLarge, .cancelled, .exhausted, .overloaded, .internalError, .unreadableSource, .cannotWrite,
            .badRedirect,
            .hookFailed,
            .cacheMiss, .undecodable, .invalidated, .invalidPolicy:
            .incomplete
        }
    }

    /// Returns the refusal with the pins of the peer's chain. A pin mismatch lists them already.
    private static func words(for error: SessionError) -> String {
        guard let verdict = error.verdict, let refusal = verdict.error, refusal.code != .pinMismatch,
            !verdict.chain.isEmpty
        else { return error.message }
        let chain = verdict.chain.map { "    \($0.spkiPin) \($0.position.rawValue) \($0.subject)" }
        return ([refusal.description, "  Peer's chain:"] + chain).joined(separator: "\n")
    }
}
