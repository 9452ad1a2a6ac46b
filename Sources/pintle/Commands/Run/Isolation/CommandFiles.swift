// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The places at which a command in a network of its own sees other files than the machine's, so that it finds none of the
/// machine's services there.
///
/// A network does not confine Unix sockets that have a path. So each one that is found is covered, except those that the
/// configuration exposes. In `/run`, where services start and end at any time, the folders themselves are layers over the machine's:
/// their files can be read, but none of their sockets can be connected to, whenever it was bound.
struct CommandFiles: Equatable {
    struct Place: Equatable {
        enum Kind: Equatable {
            case socket, new, folder, layer, kept, processes
            case link(target: String)
            case copy(of: String)
        }

        let path: String
        let kind: Kind
        /// The index of the layer in which the place is; nil if it is in none.
        var layer: Int?
    }

    /// The places, with folders before what is in them.
    private(set) var places: [Place] = []
    /// The folders that are laid out anew.
    private let roots: [String]
    private let mounts: MountTable
    private let exposed: Set<String>
    private var seen: Set<[UInt8]> = []

    /// The deepest folder of a layer in which sockets are looked for. They matter only if the kernel makes no layers.
    private static let deepest = 32

    /// Creates the places for a command of this process.
    init(exposing exposed: Set<String>, environment: [String: String]) {
        let read = { FileBytes.read($0, upTo: 64 << 20) ?? [] }
        let search = SocketSearch(
            bound: SocketSearch.paths(in: read("/proc/net/unix")), environment: environment,
            mounts: MountTable(read("/proc/self/mountinfo")))
        self.init(exposing: exposed, sockets: search.sockets, roots: ["/run", "/var/run"], mounts: search.mounts)
    }

    /// - Parameters:
    ///   - exposed: paths of sockets that stay as they are.
    ///   - roots: the folders of services. Those that do not exist are left out.
    init(exposing exposed: Set<String>, sockets: [String], roots: [String], mounts: MountTable) {
        var real: [String] = []
        for root in roots.compactMap({ realpath($0) }) where root != "/" && !real.contains(root) { real.append(root) }
        (self.exposed, self.mounts, self.roots) = (exposed, mounts, real)
        for root in real {
            self.places.append(Place(path: root, kind: .new))
            self.addContent(of: root, depth: 0)
        }
        for path in sockets where !exposed.contains(path) && !self.seen.contains(path.systemBytes) {
            self.places.append(Place(path: path, kind: .socket))
        }
        let others = mounts.mounts.filter { $0.type == "proc" && $0.root == "/" && $0.place != "/proc" }.map(\.place)
        self.places += (["/proc"] + others).map { Place(path: $0, kind: .processes) }
    }

    /// The working directory if it is in a folder that is laid out anew; else nil.
    var folder: String? {
        getcwd().flatMap { path in self.roots.contains { path == $0 || path.hasPrefix("\($0)/") } ? path : nil }
    }

    /// Shows an empty file at the place of a file; does nothing if there is none.
    mutating func hide(_ file: String) {
        if let path = realpath(file) { self.places.append(Place(path: path, kind: .socket)) }
    }

    /// Shows a copy at the place of a file.
    mutating func show(_ copy: CredentialFiles.Copy) {
        self.places.append(Place(path: copy.path, kind: .copy(of: copy.copy)))
    }

    /// True if files that the command writes into a folder are its own, and gone when it ends.
    func forgets(_ folder: String) -> Bool {
        func holds(_ place: String) -> Bool { folder == place || folder.hasPrefix("\(place)/") }
        let isKept = self.places.contains { $0.kind == .kept && holds($0.path) }
        return !isKept && self.roots.contains(where: holds)
    }

    // MARK: Folders of services

    private mutating func addContent(of folder: String, depth: Int) {
        for entry in FolderListing.entries(in: folder) {
            let path = "\(folder)/\(entry.name)"
            switch entry.kind {
            case .folder: self.addFolder(path, depth: depth + 1)
            case .socket: self.addSocket(path, layer: nil)
            case .link:
                if let target = readlink(path) { self.places.append(Place(path: path, kind: .link(target: target))) }
            case .file: self.places.append(Place(path: path, kind: .kept))
            // Pipes and devices lead to services, too.
            case .other: break
            }
        }
    }

    private mutating func addFolder(_ path: String, depth: Int) {
        // A disk, a device or another machine's folder: what the command writes there must arrive.
        if let mount = self.mounts.mount(at: path), !["tmpfs", "ramfs"].contains(mount.type) {
            self.places.append(Place(path: path, kind: .kept))
        } else if self.mounts.hasMounts(below: path) {
            // The kernel refuses layers over folders with mounts in them.
            self.places.append(Place(path: path, kind: .folder))
            self.addContent(of: path, depth: depth)
        } else {
            self.places.append(Place(path: path, kind: .layer))
            self.addSockets(in: path, layer: self.places.count - 1, depth: depth)
        }
    }

    private mutating func addSockets(in folder: String, layer: Int, depth: Int) {
        guard depth < Self.deepest else { return }
        for entry in FolderListing.entries(in: folder) {
            let path = "\(folder)/\(entry.name)"
            switch entry.kind {
            case .folder: self.addSockets(in: path, layer: layer, depth: depth + 1)
            case .socket: self.addSocket(path, layer: layer)
            case .file, .link, .other: break
            }
        }
    }

    /// Adds a socket of a folder of services. Directly in a new folder, there is none if it is not exposed.
    private mutating func addSocket(_ path: String, layer: Int?) {
        self.seen.insert(path.systemBytes)
        if self.exposed.contains(path) {
            self.places.append(Place(path: path, kind: .kept, layer: layer))
        } else if let layer {
            self.places.append(Place(path: path, kind: .socket, layer: layer))
        }
    }
}
