// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The state in which the program finds its process.
struct InheritedProcessTests {
    private let folder = Result { try TemporaryFolder() }

    /// A library that sets a variable before main, as monitoring agents do.
    private func agent() throws -> String {
        let folder = try self.folder.get()
        let source = try folder.write(
            "#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) { setenv(\"A\", \"b\", 1); }\n",
            to: "agent.c")
        let library = "\(folder.path)/agent.so"
        // Swift brings a compiler for C.
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let compiler = try #require(
            path.split(separator: ":").map { "\($0)/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) })
        let process = try ChildProcess(
            compiler, ["-shared", "-fPIC", "-o", library, source], environment: ["PATH": path])
        #expect(try process.waitForExit() == 0, "\(process.lines)")
        return library
    }

    @Test(
        arguments: [
            (["run", "--", "/bin/sh", "-c", "exit 7"], 7), (["run", "--", "/bin/true"], 0), (["nonsense"], 2), ([], 2),
            (["version"], 0),
        ] as [([String], Int32)])
    func `LOOK-63 arguments arrive although a preloaded library sets a variable`(
        arguments: [String], code: Int32
    ) throws {
        for preloaded in [true, false] {
            var environment = ["PATH": "/usr/bin:/bin", "HOME": try self.folder.get().path]
            if preloaded { environment["LD_PRELOAD"] = try self.agent() }
            let process = try ChildProcess(
                PintleProcess.binary, arguments, environment: environment, folder: try self.folder.get().path)
            #expect(try process.waitForExit() == code, "\(process.lines)")
        }
    }

    @Test(arguments: ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
    func `LOOK-64 a standard stream that is closed is the null device and nothing else`(closed: String) throws {
        let folder = try self.folder.get()
        let settings = try folder.write("version: 1\nadmin: off\nlog: {exchanges: off}\n", to: "pintle.yaml")
        let portFile = "\(folder.path)/port"
        let process = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                "exec \(PintleProcess.binary) serve -c \(settings) --listen 127.0.0.1:0 --port-file \(portFile) \(closed)",
            ], environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path])
        try Patience.wait(for: "the port") { !(fileBytes(portFile) ?? []).isEmpty || process.exitCode != nil }
        for number in 0..<3 where closed.contains("\(number)<") || closed.contains("\(number)>") {
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.pid)/fd/\(number)")
            #expect(target == "/dev/null")
        }
        process.signal(15)
        #expect(try process.waitForExit() == 0)
    }
}
