// SPDX-License-Identifier: Apache-2.0

import PintlePolicy

/// Files of the repository whose contents are promises.
enum Repository {
    /// The absolute path of a file.
    static func path(_ relative: String) -> String {
        let folders = #filePath.split(separator: "/").dropLast(4)
        return "/" + folders.joined(separator: "/") + "/" + relative
    }

    /// The bytes of a file.
    static func bytes(_ relative: String) throws -> [UInt8] {
        try LoaderEnvironment.system(environment: [:]).read(self.path(relative), 1 << 20)
    }
}
