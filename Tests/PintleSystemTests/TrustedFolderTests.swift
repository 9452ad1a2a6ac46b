// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleSystem
import PintleTesting
import Testing

/// Folders and files that other users could change, and links.
struct TrustedFolderTests {
    private let folder: TemporaryFolder
    /// The id of another user; the user need not have a name.
    private static let stranger: uid_t = 54_321

    init() throws { self.folder = try TemporaryFolder() }

    private func path(_ name: String) -> String { "\(self.folder.path)/\(name)" }

    private func make(_ name: String, mode: mode_t = 0o700) -> String {
        let path = self.path(name)
        mkdir(path, mode)
        // The umask has no say.
        chmod(path, mode)
        return path
    }

    /// The reason for which a folder is refused; empty if it is not.
    private func refusal(_ path: String, making mode: UInt32? = nil) -> String {
        do throws(UntrustedPlace) {
            _ = try TrustedFolder(path, making: mode)
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `LOOK-97 a folder is made with those above it, for this user alone`() throws {
        let path = self.path("a/b/c")
        #expect(self.refusal(path) == "\(self.path("a")): no such file or folder")
        for _ in 0..<2 { #expect(try TrustedFolder(path, making: 0o700).permissions == 0o700) }
        try self.folder.write("", to: "file")
        #expect(self.refusal(self.path("file/a"), making: 0o700) == "\(self.path("file")): not a folder")
    }

    @Test(arguments: [
        (0o770 as mode_t, "its group", "g-w"), (0o757, "every user", "go-w"), (0o1777, "every user", "go-w"),
    ])
    func `LOOK-97 a folder that others may write is refused, with the remedy`(
        mode: mode_t, whom: String, remedy: String
    ) {
        let path = self.make("open", mode: mode)
        #expect(
            self.refusal(path) == "\(path): \(whom) may change what is there (mode \(String(mode, radix: 8))); "
                + "`chmod \(remedy) \(path)`, or use another folder")
        #expect(self.refusal("\(path)/inner", making: 0o700).isEmpty == (mode != 0o757))
    }

    @Test(.enabled(if: geteuid() == 0, "only root may give files to others"))
    func `LOOK-97 a folder of another user is refused, on the way and at its end, and so are files`() throws {
        let path = self.make("given")
        let file = try self.folder.write("planted", to: "given/a")
        let own = try TrustedFolder(path)
        chown(file, Self.stranger, Self.stranger)
        let error = #expect(throws: UntrustedPlace.self) { try own.check("a") }
        #expect(error?.description.hasPrefix("\(file): it belongs to another user (\(Self.stranger))") == true)
        #expect(throws: UntrustedPlace.self) { try own.open("a", O_RDWR) }
        chown(path, Self.stranger, Self.stranger)
        for place in [path, "\(path)/inner", "\(path)/../given"] {
            #expect(self.refusal(place, making: 0o700).hasPrefix("\(path): it belongs to another user"), "\(place)")
        }
        let link = self.path("link")
        symlink(self.make("mine"), link)
        lchown(link, Self.stranger, Self.stranger)
        #expect(self.refusal(link).hasPrefix("\(link): another user (\(Self.stranger)) made this link"))
    }

    @Test func `LOOK-97 a link of one's own leads to the folder, which is judged, and a circle of them nowhere`() throws
    {
        let (place, open) = (self.make("place"), self.make("open", mode: 0o777))
        for (name, target) in [
            ("near", "place"), ("far", place), ("bad", open), ("inside", "open/x"), ("round", "round"),
        ] {
            symlink(target, self.path(name))
        }
        #expect(self.refusal(self.path("near")).isEmpty && self.refusal(self.path("far/a"), making: 0o700).isEmpty)
        #expect(access("\(place)/a", F_OK) == 0)
        #expect(self.refusal(self.path("bad")).contains("chmod go-w"))
        #expect(self.refusal(self.path("inside"), making: 0o700).contains("chmod +t \(open)"))
        #expect(self.refusal(self.path("round")).hasSuffix("too many symbolic links"))
    }

    @Test func `LOOK-97 links in a folder are not followed, neither to folders nor to files`() throws {
        let folder = try TrustedFolder(self.make("folder"))
        let elsewhere = self.make("elsewhere")
        let file = try self.folder.write("precious", to: "elsewhere/a")
        symlink(elsewhere, self.path("folder/inner"))
        symlink(file, self.path("folder/a"))
        let words = "it is a link, which is not followed; remove it"
        for making in [nil, 0o700 as UInt32] {
            let error = #expect(throws: UntrustedPlace.self) { try folder.folder("inner", making: making) }
            #expect(error?.description == "\(self.path("folder/inner")): \(words)")
        }
        for flags in [O_RDONLY, O_RDWR | O_CREAT] {
            let error = #expect(throws: UntrustedPlace.self) { try folder.open("a", flags) }
            #expect(error?.description == "\(self.path("folder/a")): \(words)")
        }
        #expect(throws: UntrustedPlace.self) { try folder.check("a") }
        // Removing takes the link.
        #expect(folder.remove("a") == nil && folder.remove("inner") == nil && folder.remove("gone") == nil)
        #expect(try folder.names().next(9).isEmpty)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
    }

    @Test func `LOOK-97 what is in a folder is reached although its path leads elsewhere by now`() throws {
        let folder = try TrustedFolder(self.make("folder"))
        close(try folder.open("a", O_RDWR | O_CREAT))
        rename(self.path("folder"), self.path("moved"))
        let other = self.make("folder")
        #expect(try folder.check("a") == 0o600 && folder.folder("b", making: 0o700).permissions == 0o700)
        try folder.rename("a", to: "c")
        #expect(try Set(folder.names().next(9)) == ["b", "c"])
        #expect(folder.removeFolder("b") == nil && folder.removeFolder("c")?.code == ENOTDIR)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other).isEmpty)
    }

    @Test func `LOOK-97 a file that a configuration names may be a link, but not one that others may change`() throws {
        let file = try self.folder.write("key", to: "key")
        symlink("key", self.path("link"))
        for path in [file, self.path("link"), self.path("missing")] { try TrustedFile.check(path) }
        chmod(file, 0o620)
        #expect(throws: UntrustedPlace.self) { try TrustedFile.check(self.path("link")) }
    }
}
