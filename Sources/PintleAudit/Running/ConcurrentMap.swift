// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Returns the results of `transform` for all elements, in their order. At most `width` calls run at a time.
func concurrentMap<Element: Sendable, Output: Sendable>(
    _ elements: [Element], width: Int, _ transform: @escaping @Sendable (Element) async -> Output
) async -> [Output] {
    await withTaskGroup(of: (Int, Output).self) { group in
        var outputs: [Int: Output] = [:]
        var waiting = elements.enumerated().makeIterator()
        func startNext() {
            guard let (index, element) = waiting.next() else { return }
            group.addTask { (index, await transform(element)) }
        }
        for _ in 0..<width { startNext() }
        for await (index, output) in group {
            outputs[index] = output
            startNext()
        }
        return elements.indices.compactMap { outputs[$0] }
    }
}

/// Counts finished jobs and reports each to `progress`.
struct Tally: Sendable {
    private let done = Locked(0)
    private let total: Int
    private let progress: @Sendable (Int, Int) -> Void

    init(total: Int, _ progress: @escaping @Sendable (Int, Int) -> Void) {
        self.total = total
        self.progress = progress
        progress(0, total)
    }

    func count() {
        let count = self.done.withLock { done in
            done += 1
            return done
        }
        self.progress(count, self.total)
    }
}
