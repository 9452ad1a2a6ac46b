// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem

/// The sockets and descriptors of Pintle's caller that a command gets: those of `isolate.expose`, and descriptors that its arguments name.
struct ExposedPlaces: Equatable {
    /// Sockets, with absolute paths without symbolic links.
    private(set) var sockets: Set<String> = []
    private(set) var descriptors: Set<Int32> = []
    /// A sentence about each entry that exposes nothing.
    private(set) var lacks: [String] = []

    /// - Parameters:
    ///   - inherited: the descriptors with which Pintle was started.
    ///   - words: the command and its arguments.
    init(_ entries: [IsolationConfiguration.Exposure], inherited: Set<Int32>, words: [[UInt8]]) {
        self.descriptors = Set(words.flatMap(Self.descriptors(in:))).intersection(inherited)
        for entry in entries {
            switch entry {
            case .descriptor(let number) where inherited.contains(number): self.descriptors.insert(number)
            case .descriptor(let number): self.lacks.append("pintle was started without a descriptor \(number)")
            case .sockets(let pattern):
                let found = paths(matching: pattern).compactMap { realpath($0) }.filter(SocketSearch.isSocket)
                self.sockets.formUnion(found)
                if found.isEmpty { self.lacks.append("there is no Unix socket \(pattern.showingSystemBytes)") }
            }
        }
    }
    /// Returns the descriptors whose paths are in an argument, as shells write them for `<(…)`.
    static func descriptors(in word: [UInt8]) -> [Int32] {
        let word = String(decoding: word, as: UTF8.self)
        return ["/dev/fd/", "/proc/self/fd/"].flatMap { folder in
            word.split(separator: folder, omittingEmptySubsequences: false).dropFirst().compactMap {
                Int32($0.prefix(while: \.isNumber))
            }
        }
    }
}
