// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The corpus's hostile origins against the library, in every way in which a session comes to an origin.
@Suite(.serialized) struct LibraryTests {
    static let cases = WireCase.ofOrigins.filter { $0.isForLibrary }

    @Test(arguments: OriginWay.all, Self.cases)
    func outcome(_ way: OriginWay, _ test: WireCase) async throws {
        if way.isUsed, test.newOnly != nil { return }
        try await Self.play(test, by: way)
    }

    private static func play(_ test: WireCase, by way: OriginWay) async throws {
        // A stage blocks its thread, and the tasks that it waits for want one of those that there are.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try LibraryStage.play(test, by: way) })
            }
        }
    }
}
