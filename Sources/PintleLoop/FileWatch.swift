// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore
internal import PintleSystem

/// Tells when files have changed: written to, replaced, removed, made, or reached by other symbolic links. Used on its
/// loop's thread.
///
/// The kernel (inotify) is asked about folders, since editors and deployments put new files in the place of old ones. What
/// it tells is only a reason to look: a change is what differs from the marks that the files had.
package final class FileWatch: DescriptorWatcher {
    /// Changes that follow each other within this time are one.
    private static let gathering = TimeAmount.milliseconds(200)
    /// What never comes to rest is told of all the same.
    private static let longestGathering = TimeAmount.seconds(2)

    private let loop: Loop
    private let descriptor: Int32
    private let whenChanged: () -> Void
    private var files: [String: FileMark] = [:]
    /// What is looked for in which folder: names, or everything where there is none.
    private var folders: [String: Set<String>] = [:]
    private var numbers: [Int32: String] = [:]
    private var timer: LoopTimer?
    private var firstSign: NIODeadline?

    /// - Throws: `IOError` where the system has no more of these.
    package init(loop: Loop, whenChanged: @escaping () -> Void) throws {
        self.descriptor = pintle_file_watch()
        guard self.descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "inotify_init1") }
        self.loop = loop
        self.whenChanged = whenChanged
        self.timer = LoopTimer { [weak self] in self?.look() }
    }

    deinit { close(self.descriptor) }

    /// Watches these files from now on, and no others. One that has changed since it got its mark is told of soon.
    ///
    /// - Parameter files: by path, as they were when they were read.
    /// - Returns: folders that cannot be watched, with the reason.
    @discardableResult
    package func follow(_ files: [String: FileMark]) -> [String] {
        self.files = files
        let problems = self.watchFolders()
        self.loop.watch(self.descriptor, for: .read, by: self)
        if self.hasChanged { self.expectChange() }
        return problems
    }

    /// Watches nothing any more.
    package func stop() {
        self.loop.unwatch(self.descriptor)
        if let timer { self.loop.disarm(timer) }
    }

    package func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        var isRelevant = false
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { space in
            while true {
                let count = read(descriptor, space.baseAddress, space.count)
                guard count > 0 else { return }
                if self.isRelevant(UnsafeRawBufferPointer(rebasing: space[..<count])) { isRelevant = true }
            }
        }
        if isRelevant { self.expectChange() }
    }

    /// Whether one of these `struct inotify_event` is about what is looked for.
    private func isRelevant(_ events: UnsafeRawBufferPointer) -> Bool {
        var rest = events[...]
        while rest.count >= 16 {
            let header = UnsafeRawBufferPointer(rebasing: rest)
            let number = header.loadUnaligned(as: Int32.self)
            let mask = header.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            let length = Int(header.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
            let name = String(systemBytes: rest.dropFirst(16).prefix(length).prefix { $0 != 0 })
            rest = rest.dropFirst(16 + length)
            // Something was lost, or the folder itself is gone.
            guard mask & UInt32(PINTLE_FILES_LOST | PINTLE_FOLDER_GONE) == 0 else { return true }
            guard let folder = self.numbers[number], let names = self.folders[folder] else { continue }
            if names.isEmpty || names.contains(name) { return true }
        }
        return false
    }

    private func expectChange() {
        guard let timer else { return }
        let now = self.loop.turnTime
        let first = self.firstSign ?? now
        self.firstSign = first
        self.loop.arm(timer, at: min(now + Self.gathering, first + Self.longestGathering))
    }

    private func look() {
        self.firstSign = nil
        if self.hasChanged { return self.whenChanged() }
        // Folders may be others by now, with the same files in them.
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

/// What a file was at one moment: enough to see whether it is another, or has other contents.
package struct FileMark: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Looks at the file at `path`, through symbolic links. One that is not there has a mark, too.
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

/// The places in the file system on which it depends what a path leads to.
enum WatchedPlaces {
    /// As the kernel has it.
    private static let mostLinks = 40

    /// Adds the folders on the way to `path`, in each of which one name matters: the next folder, which may be replaced, a
    /// symbolic link, the file itself, or what is missing.
    /// An empty set of names stands for all.
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
        // One that is watched for everything stays so.
        if folders[folder]?.isEmpty != true { folders[folder, default: []].insert(name) }
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").map(String.init).filter { $0 != "." }
    }
}
