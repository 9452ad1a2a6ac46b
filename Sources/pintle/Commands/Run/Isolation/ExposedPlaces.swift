// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem

/// The sockets and descriptors that `isolate.expose` gives to a command.
struct ExposedPlaces: Equatable {
    /// Sockets, with absolute paths without symbolic links.
    private(set) var sockets: Set<String> = []
    private(set) var descriptors: Set<Int32> = []
    /// A sentence about each entry that exposes nothing.
    private(set) var lacks: [String] = []

    /// - Parameter inherited: the descriptors with which Pintle was started.
    init(_ entries: [IsolationConfiguration.Exposure], inherited: Set<Int32>) {
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
}
