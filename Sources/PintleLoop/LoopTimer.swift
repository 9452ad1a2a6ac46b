// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// A timer that its owner arms, moves and disarms on one ``Loop``, any number of times, without allocation.
package final class LoopTimer: @unchecked Sendable {
    // Why @unchecked holds: only the loop's thread reads or writes the two variables, through `arm` and `disarm`.
    fileprivate var deadline = NIODeadline.uptimeNanoseconds(0)
    fileprivate var position = -1
    private let action: () -> Void
    /// The source line that made the timer.
    let origin: TurnMeter.Source

    /// Makes a timer that is not armed; `action` runs on the loop's thread. Reports of slow turns name `file` and `line`.
    package init(file: StaticString = #fileID, line: UInt = #line, _ action: @escaping () -> Void) {
        self.origin = .place(file, line)
        self.action = action
    }

    /// True if the timer will fire.
    package var isArmed: Bool { self.position >= 0 }

    /// True if the timer is armed for a later time than `deadline`.
    package func fires(after deadline: NIODeadline) -> Bool { self.isArmed && self.deadline > deadline }

    func fire() { self.action() }
}

/// Armed timers, earliest first: a binary heap whose members know their position.
struct TimerHeap {
    private var heap: [LoopTimer] = []

    var earliest: NIODeadline? { self.heap.first?.deadline }

    mutating func arm(_ timer: LoopTimer, at deadline: NIODeadline) {
        timer.deadline = deadline
        if timer.position < 0 {
            timer.position = self.heap.count
            self.heap.append(timer)
        }
        self.siftUp(timer.position)
        self.siftDown(timer.position)
    }

    /// Disarms a timer; does nothing if it is not armed.
    mutating func disarm(_ timer: LoopTimer) {
        let position = timer.position
        guard position >= 0 else { return }
        timer.position = -1
        let last = self.heap.removeLast()
        guard last !== timer else { return }
        self.heap[position] = last
        last.position = position
        self.siftUp(position)
        self.siftDown(last.position)
    }

    mutating func popExpired(at now: NIODeadline) -> LoopTimer? {
        guard let first = self.heap.first, first.deadline <= now else { return nil }
        self.disarm(first)
        return first
    }

    mutating func removeAll() {
        for timer in self.heap { timer.position = -1 }
        self.heap.removeAll()
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            // The parent fires first, as it must.
            guard self.heap[child].deadline < self.heap[parent].deadline else { return }
            self.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.heap.count {
                if self.heap[child].deadline < self.heap[smallest].deadline { smallest = child }
            }
            // Both children fire later, as they must.
            guard smallest != parent else { return }
            self.swapAt(parent, smallest)
            parent = smallest
        }
    }

    private mutating func swapAt(_ left: Int, _ right: Int) {
        self.heap.swapAt(left, right)
        self.heap[left].position = left
        self.heap[right].position = right
    }
}
