// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import pintle

/// The check of output files and folders before a run.
struct OutputPlaceTests {
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write("x", to: "file")
    }

    @Test(arguments: ["", "/", "/new", "/new/below", "/new/below/"])
    func `a folder can be filled that is there, or can be made`(end: String) {
        #expect(OutputPlace.obstacle(toFilling: self.folder.path + end) == nil)
    }

    @Test(arguments: ["/file", "/file/below"])
    func `a file is no folder, nor has it any below it`(end: String) {
        let reason = OutputPlace.obstacle(toFilling: self.folder.path + end)
        #expect(reason == "\(self.folder.path)/file is a file; name a folder")
    }

    @Test func `an empty name is none`() { #expect(OutputPlace.obstacle(toFilling: "") == "name a folder") }
}
