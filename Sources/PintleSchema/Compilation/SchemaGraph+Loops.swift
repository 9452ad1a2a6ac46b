// SPDX-License-Identifier: Apache-2.0

extension SchemaGraph {
    /// Refuses schemas that apply themselves to the instance that they judge, which would never end.
    ///
    /// - Throws: the place of a schema that is part of such a loop.
    func refuseLoops() throws(SchemaError) {
        enum Colour { case unseen, open, done }
        var colours = [Colour](repeating: .unseen, count: self.nodes.count)
        for start in self.nodes.indices where colours[start] == .unseen {
            colours[start] = .open
            var path = [(node: start, next: self.schemasInPlace(of: start)[...])]
            while !path.isEmpty {
                guard let child = path[path.count - 1].next.popFirst() else {
                    colours[path.removeLast().node] = .done
                    continue
                }
                switch colours[child] {
                case .done: break
                case .unseen:
                    colours[child] = .open
                    path.append((child, self.schemasInPlace(of: child)[...]))
                case .open:
                    throw SchemaError(
                        self.nodes[path[path.count - 1].node].location,
                        "leads back to \(self.nodes[child].location) without going into the instance, which would never "
                            + "end; take one reference out of the loop")
                }
            }
        }
    }

    private func schemasInPlace(of node: Int) -> [Int] {
        self.nodes[node].keywords.flatMap {
            if case .applicator(let applicator) = $0 { applicator.schemasInPlace } else { [Int]() }
        }
    }
}
