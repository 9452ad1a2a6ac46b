// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintleSession

/// The failures after which a request is sent again.
struct TransferAttemptsTests {
    private static let failures: [(name: String, CarrierFailure, afterUse: TransferAttempts.Resend?)] = [
        ("closed", .closed, .lost), ("broken", .broken(nil), .lost), ("broken frames", .brokenFrames, .lost),
        ("refused", .refused, .refused), ("unseen", .unseen, .turnedAway), ("reset", .reset, nil),
        ("HTTP/1.1 required", .http1Required, .turnedAway),
        ("excessive", .excessive, nil), ("malformed", .malformed(WireError(.malformed, "")), nil),
    ]

    private func resend(
        _ attempts: TransferAttempts, _ failure: CarrierFailure, afterUse: Bool = true,
        received: ResponsePart = .nothing, by rules: TransferRetries = TransferRetries()
    ) -> TransferAttempts.Resend? {
        attempts.resend(after: failure, afterUse: afterUse, received: received, by: rules)
    }

    @Test func `a request is sent again after a failure that may have left it unseen`() {
        for (name, failure, expected) in Self.failures {
            #expect(self.resend(TransferAttempts(), failure) == expected, "\(name)")
            let onNew = expected == .lost ? nil : expected
            #expect(self.resend(TransferAttempts(), failure, afterUse: false) == onNew, "\(name) on a new connection")
        }
    }

    @Test func `a request is not sent again once a part of the response has come`() {
        for (name, failure, _) in Self.failures {
            for part in [ResponsePart.bytes, .head, .chunks] {
                #expect(self.resend(TransferAttempts(), failure, received: part) == nil, "\(name), \(part)")
            }
        }
    }

    @Test func `a request is sent once more at most, over a connection of its own`() {
        var attempts = TransferAttempts()
        #expect(attempts.choice == .any)
        #expect(attempts.note(.lost) == .new)
        #expect(attempts.choice == .new && attempts.count == 1)
        #expect(self.resend(attempts, .closed) == nil && self.resend(attempts, .refused) == nil)
        var rules = TransferRetries()
        rules.limit = 5
        #expect(self.resend(attempts, .closed, by: rules) == nil, "whatever the number of retries is")
    }

    @Test func `the rules may forbid to send again, but not over another connection when one takes no more requests`() {
        var rules = TransferRetries()
        rules.onStaleConnection = false
        #expect(self.resend(TransferAttempts(), .closed, by: rules) == nil)
        #expect(self.resend(TransferAttempts(), .refused, by: rules) == nil)
        #expect(self.resend(TransferAttempts(), .unseen, by: rules) == .turnedAway)
    }

    @Test func `sixteen connections may turn a request away`() {
        var attempts = TransferAttempts()
        for _ in 0..<16 {
            #expect(self.resend(attempts, .unseen) == .turnedAway)
            #expect(attempts.note(.turnedAway) == .any)
        }
        #expect(self.resend(attempts, .unseen) == nil)
        #expect(self.resend(attempts, .closed) == .lost, "they are no retries")
        #expect(attempts.count == 16)
    }

    @Test func `another connection is tried if the rules say so, as often as they say`() {
        var (attempts, rules) = (TransferAttempts(), TransferRetries())
        let refused = SessionError(.connectionRefused, "")
        #expect(!attempts.mayConnectAgain(after: refused, with: "GET", by: rules))
        (rules.onConnectFailure, rules.limit) = (true, 2)
        #expect(!attempts.mayConnectAgain(after: SessionError(.untrusted, ""), with: "GET", by: rules))
        #expect(!attempts.mayConnectAgain(after: refused, with: "POST", by: rules))
        for _ in 0..<2 {
            #expect(attempts.mayConnectAgain(after: refused, with: "GET", by: rules))
            _ = attempts.noteConnection()
        }
        #expect(!attempts.mayConnectAgain(after: refused, with: "GET", by: rules))
        #expect(attempts.choice == .any && attempts.count == 2)
    }
}
