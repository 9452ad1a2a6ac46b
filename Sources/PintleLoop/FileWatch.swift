// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore
internal import PintleSystem

/// Reports changes of files: a file was written to, replaced, removed or made, or its path leads elsewhere through symbolic
/// links. Used on its loop's thread.
///
/// Watches folders with inotify, since editors and deployments replace files by new ones. An event is only a reason to
/// look: a file has changed if it differs from its mark.
package final class FileWatch: DescriptorWatcher {
    /// Changes that follow each other within this time are reported as one.
    private static let gathering = TimeAmount.milliseconds(200)
    /// The time after which a change is reported even if further ones keep coming.
    private static let longestGathering = TimeAmount.seconds(2)

    private let loop: Loop
    private let descriptor: Int32
    private let whenChanged: () -> Void
    private var files: [String: FileMark] = [:]
    /// The watched folders, each with the names in it that matter; an empty set stands for all names.
    private var folders: [String: Set<String>] = [:]
    private var numbers: [Int32: String] = [:]
    private lazy var timer = LoopTimer { [weak self] in self?.look() }
    private var firstSign: NIODeadline?

    /// - Throws: `IOError` if the system has no more inotify instances.
    package init(loop: Loop, whenChanged: @escaping () -> Void) throws {
        self.descriptor = pintle_file_watch()
        guard self.descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "inotify_init1") }
        self.loop = loop
        self.whenChanged = whenChanged
    }

    deinit { close(self.descriptor) }

    /// Watches these files from now on, and no others. A file that has changed since its mark was taken is reported soon.
    ///
    /// - Parameter files: the marks that the files had when they were read, by path.
    /// - Returns: folders that cannot be watched, with the reason.
    @discardableResult
    package func follow(_ files: [String: FileMark]) -> [String] {
        self.files = files
        let problems = self.watchFolders()
        self.loop.watch(self.descriptor, for: .read, by: self)
        if self.hasChanged { self.expectChange() }
        return problems
    }

    /// Stops watching.
    package func stop() {
        self.loop.unwatch(self.descriptor)
        self.loop.disarm(self.timer)
    }

    package func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        var isRelevant = false
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { space in
            while true {
                let count = read(descriptor, space.baseAddress, space.count)
                // All events were read.
                guard count > 0 else { return }
                if self.isRelevant(UnsafeRawBufferPointer(rebasing: space[..<count])) { isRelevant = true }
            }
        }
        if isRelevant { self.expectChange() }
    }

    /// True if one of these `struct inotify_event` is about a name that matters.
    private func isRelevant(_ events: UnsafeRawBufferPointer) -> Bool {
        var rest = events[...]
        while rest.count >= 16 {
            let header = UnsafeRawBufferPointer(rebasing: rest)
            let number = header.loadUnaligned(as: Int32.self)
            let mask = header.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            let length = Int(header.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
            let name = String(systemBytes: rest.dropFirst(16).prefix(length).prefix { $0 != 0 })
            rest = rest.dropFirst(16 + length)
            // Events were lost, or the folder itself is gone.
            guard mask & UInt32(PINTLE_FILES_LOST | PINTLE_FOLDER_GONE) == 0 else { return true }
            guard let folder = self.numbers[number], let names = self.folders[folder] else { continue }
            if names.isEmpty || names.contains(name) { return true }
        }
        return false
    }

    private func expectChange() {
        let now = self.loop.turnTime
        let first = self.firstSign ?? now
        self.firstSign = first
        self.loop.arm(self.timer, at: min(now + Self.gathering, first + Self.longestGathering))
    }

    private func look() {
        self.firstSign = nil
        if self.hasChanged { return self.whenChanged() }
        // The folders may have been replaced, with the same files in them.
        _ = self.watchFolders()
        if self.hasChanged { self.expectChange() }
    }

    private var hasChanged: Bool { self.files.contains { FileMark($0.key) != $0.value } }

    private func watchFolders() -> [String] {
        var folders: [String: Set<String>] = [:]
        for path in self.files.keys { WatchedPlaces.add(path, to: &folders) }
        self.folders = folders
        let old = self.numbers
        self.numbers = [:]
        var problems: [String] = []
        for folder in folders.keys {
            let number = folder.withSystemText { pintle_file_watch_add(self.descriptor, $0) }
            if number >= 0 {
                self.numbers[number] = folder
            } else if errno != ENOENT {
                problems.append("\(folder): \(SystemError.last)")
            }
        }
        for number in old.keys where self.numbers[number] == nil { pintle_file_watch_remove(self.descriptor, number) }
        return problems.sorted()
    }
}

/// The identity, size and time of a file at one moment, to see later whether it was replaced or has other contents.
package struct FileMark: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Looks at the file at `path`, through symbolic links. A missing file has a mark, too.
    package init(_ path: String) {
        var status = stat()
        if pathStat(path, &status) != 0 { status = stat() }
        self.device = UInt64(status.st_dev)
        self.number = UInt64(status.st_ino)
        self.size = Int64(status.st_size)
        self.seconds = status.st_mtim.tv_sec
        self.nanoseconds = status.st_mtim.tv_nsec
    }
}

/// The folders and names that decide which file a path leads to.
enum WatchedPlaces {
    /// The kernel's limit on symbolic links in one path.
    private static let mostLinks = 40

    /// Adds the folders on the way to `path`, each with the name that matters in it: the next folder, which may be
    /// replaced, a symbolic link, the file itself, or the first missing name. An empty set stands for all names.
    static func add(_ path: String, to folders: inout [String: Set<String>]) {
        var links = 0
        var rest = self.names(path.hasPrefix("/") ? path : "\(getcwd() ?? "")/\(path)")[...]
        var folder = ""
        while let name = rest.popFirst() {
            guard name != ".." else {
                folder = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
                continue
            }
            var status = stat()
            let full = "\(folder)/\(name)"
            guard lstat(full, &status) == 0 else { return self.add(name, in: folder, &folders) }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                self.add(name, in: folder, &folders)
                links += 1
                // A path that leads nowhere cannot be opened, until one of these links changes.
                guard links <= self.mostLinks, let target = readlink(full) else { return }
                if target.hasPrefix("/") { folder = "" }
                rest = (self.names(target) + rest)[...]
            case S_IFDIR:
                self.add(name, in: folder, &folders)
                folder = full
                if rest.isEmpty { folders[full] = [] }
            default:
                return self.add(name, in: folder, &folders)
            }
        }
    }

    private static func add(_ name: String, in folder: String, _ folders: inout [String: Set<String>]) {
        let folder = folder.isEmpty ? "/" : folder
        // A folder that is watched for all names stays so.
        if folders[folder]?.isEmpty != true { folders[folder, default: []].insert(name) }
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").map(String.init).filter { $0 != "." }
    }
}
