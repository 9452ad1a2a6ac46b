// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A queue between threads that put and one that takes and also waits for other descriptors. It never holds up those that put:
/// what it has no room for is lost and counted.
package final class BoundedMailbox<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var bytes = 0
        var lost = 0
    }

    private let pipe: NonBlockingPipe
    private let mostElements: Int
    private let mostBytes: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - elements: the most elements that wait.
    ///   - bytes: the most bytes that wait, as those that put count them; an element alone may be larger.
    package init(elements: Int, bytes: Int) throws(SystemError) {
        self.pipe = try NonBlockingPipe()
        (self.mostElements, self.mostBytes) = (elements, bytes)
    }

    deinit {
        close(self.pipe.readingEnd)
        close(self.pipe.writingEnd)
    }

    /// Can be read as long as something waits; for poll(2).
    package var descriptor: Int32 { self.pipe.readingEnd }

    /// Puts an element of `bytes` bytes.
    package func put(_ element: Element, bytes: Int) {
        let wakes = self.state.withLock { state in
            let isEmpty = state.waiting.isEmpty
            guard isEmpty || state.waiting.count < self.mostElements && state.bytes + bytes <= self.mostBytes else {
                state.lost += 1
                return false
            }
            state.waiting.append(element)
            state.bytes += bytes
            return isEmpty
        }
        guard wakes else { return }
        var one: UInt8 = 1
        // A pipe that is full can be read already.
        _ = write(self.pipe.writingEnd, &one, 1)
    }

    /// Takes all elements, and the number of those that were lost since the last call.
    package func take() -> (elements: [Element], lost: Int) {
        // Emptied first: an element that is put from now on either is taken below or makes the pipe readable again.
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(self.descriptor, &bytes, bytes.count) > 0 {}
        return self.state.withLock { state in
            let taken = (state.waiting, state.lost)
            state = State()
            return taken
        }
    }
}
