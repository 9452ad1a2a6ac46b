// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleSystem
import Testing

struct UserFileTests {
    @Test func `a file stands in the folder that its variable names`() {
        let environment = ["XDG_STATE_HOME": "/state", "XDG_DATA_HOME": "/data", "HOME": "/home/u"]
        #expect(UserFile.history.path(in: environment) == "/state/pintle/audit.sqlite")
        #expect(UserFile.cache.path(in: environment) == "/state/pintle/cache")
        #expect(UserFile.certificate.path(in: environment) == "/data/pintle/ca/ca.pem")
        #expect(UserFile.certificate.folder(in: environment) == "/data/pintle/ca")
        #expect(UserFile.configuration.path(in: environment) == "/home/u/.config/pintle/pintle.yaml")
    }

    @Test(arguments: ["state", ""])
    func `a folder that is not absolute is ignored`(folder: String) {
        let path = UserFile.lists.path(in: ["XDG_STATE_HOME": folder, "HOME": "/home/u"])
        #expect(path == "/home/u/.local/state/pintle/lists")
    }

    @Test func `without a home there is no file`() {
        #expect(UserFile.lists.path(in: [:]) == nil)
        #expect(UserFile.lists.path(in: ["HOME": ""]) == nil)
    }

    @Test func `a running proxy has files with its number`() {
        let environment = ["XDG_STATE_HOME": "/state"]
        #expect(UserFile.socket.path(in: environment) == "/state/pintle/run/\(getpid()).sock")
        #expect(UserFile.token.folder(in: environment) == "/state/pintle/run")
        #expect(UserFile.socket.name(ofProcess: 17) == "17.sock")
        #expect(UserFile.socket.process(ofName: "17.sock") == 17)
        for other in ["17.token", ".sock", "a.sock", "17.sock.tmp"] {
            #expect(UserFile.socket.process(ofName: other) == nil, "\(other)")
        }
        #expect(UserFile.history.process(ofName: "audit.sqlite") == nil)
    }

    @Test func `people are shown the variable, and the place of the number`() {
        #expect(UserFile.socket.shown == "$XDG_STATE_HOME/pintle/run/PID.sock")
        #expect(UserFile.trust.shown == "$XDG_DATA_HOME/pintle/trust/")
    }

    @Test func `a file beside another one has an ending of its own`() {
        #expect(CompanionFile.lock.path(beside: "/run/PID.sock") == "/run/PID.sock.lock")
        let part = CompanionFile.part.path(beside: "a")
        #expect(CompanionFile.note.path(beside: part) == "a.part.json")
        let temporary = CompanionFile.temporary.path(beside: "NUMBER")
        #expect(temporary.hasPrefix("NUMBER.\(getpid())-") && temporary.hasSuffix(".tmp"))
        #expect(temporary != CompanionFile.temporary.path(beside: "NUMBER"))
        #expect(CompanionFile.damaged.path(beside: "TIME", time: "now") == "TIME.damaged-now")
        #expect(CompanionFile.note.shown == "FILE.part.json" && CompanionFile.lock.shown == "FILE.lock")
    }
}
