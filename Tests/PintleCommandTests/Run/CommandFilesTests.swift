// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

@testable import pintle

/// The places at which an isolated command sees other files than the machine's.
struct CommandFilesTests {
    private typealias Place = CommandFiles.Place

    private let folder: TemporaryFolder
    private let root: String

    /// A folder of services with a file, a link, a folder of a service, a folder of users and in it a mount.
    init() throws {
        self.folder = try TemporaryFolder()
        self.root = try #require(realpath(self.folder.path, nil).map { String(cString: $0) }) + "/run"
        for name in ["engine/state", "user/1000", "user/disk"] {
            try self.folder.write("", to: "run/\(name)/file")
        }
        try self.folder.write("", to: "run/pid")
        mkfifo("\(self.root)/pipe", 0o600)
        symlink("/dev/shm", "\(self.root)/shm")
        for name in ["bare", "engine/api", "engine/state/inner", "user/1000/bus"] {
            try #require(mknod("\(self.root)/\(name)", S_IFSOCK | 0o600, 0) == 0)
        }
    }

    private func places(exposing exposed: Set<String> = [], sockets: [String] = []) -> [Place] {
        self.files(exposing: exposed, sockets: sockets).places
    }

    private func files(exposing exposed: Set<String> = [], sockets: [String] = []) -> CommandFiles {
        let table =
            "29 1 8:1 / \(self.root)/user/disk rw - ext4 /dev/sda rw\n30 1 0:9 / \(self.root)/user/1000 rw - tmpfs tmpfs rw\n31 1 0:8 / /other/proc rw - proc proc rw\n"
        return CommandFiles(
            exposing: exposed, sockets: sockets, roots: [self.root, self.root + "/../run", "/nonexistent"],
            mounts: MountTable(table.utf8)
        )
    }

    private func place(_ places: [Place], _ name: String) -> Place? {
        places.first { $0.path == "\(self.root)/\(name)" }
    }

    @Test func `folders of services become layers, and folders with mounts in them are made anew`() throws {
        let places = self.places()
        #expect(places.first == Place(path: self.root, kind: .new))
        #expect(self.place(places, "engine")?.kind == .layer && self.place(places, "user")?.kind == .folder)
        #expect(self.place(places, "user/1000")?.kind == .layer)
        #expect(self.place(places, "pid")?.kind == .kept && self.place(places, "pipe") == nil)
        #expect(self.place(places, "shm")?.kind == .link(target: "/dev/shm"))
        #expect(
            places.suffix(2) == [Place(path: "/proc", kind: .processes), Place(path: "/other/proc", kind: .processes)])
    }

    @Test func `files that are written are gone, except those on a disk`() {
        let files = self.files()
        for (name, isGone) in [
            ("", true), ("/engine/state", true), ("/user/1000", true), ("/user/disk/a", false), ("x", false),
        ] {
            #expect(files.forgets(self.root + name) == isGone, "\(name)")
        }
    }

    @Test func `sockets are covered if there are no layers, and those in a new folder are not made`() throws {
        let places = self.places()
        for (name, layer) in [
            ("engine/api", "engine"), ("engine/state/inner", "engine"), ("user/1000/bus", "user/1000"),
        ] {
            let place = try #require(self.place(places, name))
            #expect(place.kind == .socket && place.layer.map { places[$0].path } == "\(self.root)/\(layer)")
        }
        #expect(self.place(places, "bare") == nil)
    }

    @Test func `what is exposed stays the machine's`() throws {
        let exposed = ["bare", "engine/api"].map { "\(self.root)/\($0)" }
        let places = self.places(
            exposing: Set(exposed + ["/home/agent"]), sockets: exposed + ["/home/agent", "/tmp/other"])
        #expect(self.place(places, "bare")?.kind == .kept && self.place(places, "engine/api")?.kind == .kept)
        #expect(places.filter { $0.kind == .socket && $0.layer == nil }.map(\.path) == ["/tmp/other"])
    }

    @Test func `bound paths are read as they are`() {
        let table = """
            Num       RefCount Protocol Flags    Type St Inode Path
            0000000000000000: 00000003 00000000 00000000 0001 03  5840
            0000000000000000: 00000002 00000000 00010000 0001 01 17543 /run/a socket
            0000000000000000: 00000002 00000000 00000000 0002 01   812 @abstract
            0000000000000000: 00000002 00000000 00000000 0002 01   813 relative

            """
        #expect(SocketSearch.paths(in: table.utf8) == ["/run/a socket"])
    }

    @Test(
        arguments: [
            ("/run/ssh/agent.1", "/run/ssh/agent.1"), ("unix:///var/run/docker.sock", "///var/run/docker.sock"),
            ("unix:path=/run/user/1000/bus,guid=1", "/run/user/1000/bus"), ("tcp:2375", nil),
        ] as [(String, String?)])
    func `a variable may name a socket`(value: String, path: String?) {
        #expect(SocketSearch.path(in: value) == path)
    }

    @Test(
        arguments: [
            ("/dev/fd/63", [63]), ("--a=/dev/fd/5,/dev/fd/6", [5, 6]), ("/proc/self/fd/7", [7]), ("/dev/fd/", []),
            ("fd/3", []),
        ] as [(String, [Int32])])
    func `an argument may name descriptors`(word: String, descriptors: [Int32]) {
        #expect(ExposedPlaces.descriptors(in: Array(word.utf8)) == descriptors)
    }

    @Test func `mounts are read with their spaces`() {
        let line = "36 35 98:0 /part\\040one /mnt\\134two rw,noatime master:1 shared:2 - ext3 /dev/root rw\n"
        #expect(
            MountTable(line.utf8).mounts == [.init(device: "98:0", root: "/part one", place: "/mnt\\two", type: "ext3")]
        )
        #expect(MountTable("36 35 98:0 / /\n".utf8).mounts.isEmpty)
    }

    @Test(
        arguments: [
            ("/run/a", ["/host/run/a"]), ("/run/user/b", ["/host/run/user/b", "/users/b"]),
            ("/users/c", ["/run/user/c", "/host/run/user/c"]),
            ("/home/d", ["/host/home/d"]), ("/runner/e", ["/host/runner/e"]),
        ] as [(String, [String])])
    func `a file has a path at each place of its file system`(path: String, aliases: [String]) {
        let lines = [
            "8:1 / /", "0:5 / /run", "8:1 / /host", "0:5 / /host/run", "0:5 /user /users",
        ].map { "1 1 \($0) rw - any any rw\n" }
        #expect(MountTable(lines.joined().utf8).aliases(of: path) == aliases)
    }
}
