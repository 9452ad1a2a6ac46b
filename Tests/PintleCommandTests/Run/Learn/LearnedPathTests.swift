// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

@testable import pintle

/// Files that a configuration names are named from its own folder.
struct LearnedPathTests {
    @Test(arguments: [
        ("conf", "conf/root.pem", "root.pem"), ("conf", "conf/./x/..//ca/root.pem", "ca/root.pem"),
        ("conf", "other/root.pem", "../other/root.pem"), ("conf", "root.pem", "../root.pem"),
        ("link", "conf/root.pem", "root.pem"), ("conf", "conf/env:x", "./env:x"),
    ])
    func `LOOK-109 a file is named from the folder of the configuration`(
        folder: String, file: String, expected: String
    ) throws {
        let root = try TemporaryFolder()
        for name in ["conf/x", "conf/ca", "other"] {
            try FileManager.default.createDirectory(
                atPath: "\(root.path)/\(name)", withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(
            atPath: "\(root.path)/link", withDestinationPath: "\(root.path)/conf")
        let place = LearnedPath(from: "\(root.path)/\(folder)")
        #expect(place.spelled("\(root.path)/\(file)") == expected)
        #expect(place.spelled("/etc/./hosts") == "/etc/hosts")
    }
}
