// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleCacheStore

/// The index alone.
struct CacheIndexTests {
    @Test func `a closed index says so to threads that still have it`() throws {
        let folder = try TemporaryFolder()
        let index = try CacheIndex(folder.path + "/index.sqlite")
        #expect(try index.entries(for: "u").sound.isEmpty)
        index.close()
        index.close()
        #expect(self.code { _ = try index.entries(for: "u") } == .closed)
        #expect(self.code { _ = try index.known([1]) } == .closed)
        #expect(self.code { try index.note([1: 1]) } == .closed)
    }

    private func code(_ body: () throws -> Void) -> DiskCacheError.Code? {
        do { try body() } catch { return (error as? DiskCacheError)?.code }
        return nil
    }
}
