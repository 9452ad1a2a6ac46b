// SPDX-License-Identifier: Apache-2.0

/// A queue whose elements have numbers, by which they can be removed before their turn.
///
/// Every change takes constant time.
package struct WaitingLine<Element> {
    fileprivate struct Place {
        var element: Element
        var before: UInt64?
        var behind: UInt64?
    }

    private var places: [UInt64: Place] = [:]
    private var first: UInt64?
    private var last: UInt64?

    package init() {}

    /// The number of elements.
    package var count: Int { self.places.count }

    package var isEmpty: Bool { self.places.isEmpty }

    /// The elements, in no particular order.
    package var all: [Element] { self.places.values.map(\.element) }

    /// The last element of the queue.
    package var lastElement: Element? { self.last.flatMap { self.places[$0]?.element } }

    /// The number of the first element.
    package var firstNumber: UInt64? { self.first }

    /// The number of the last element.
    package var lastNumber: UInt64? { self.last }

    /// The element with a number; nil if none has it.
    package subscript(number: UInt64) -> Element? { self.places[number]?.element }

    /// Changes an element in its place; nil if none has the number.
    @discardableResult
    package mutating func change<Result>(_ number: UInt64, _ change: (inout Element) -> Result) -> Result? {
        guard let place = self.places.index(forKey: number) else { return nil }
        return change(&self.places.values[place].element)
    }

    /// Changes each element, in no particular order.
    package mutating func changeAll(_ change: (inout Element) -> Void) {
        for place in self.places.indices { change(&self.places.values[place].element) }
    }

    /// Adds an element at the end.
    ///
    /// - Parameter number: a number that no element of this queue has.
    package mutating func append(_ element: Element, number: UInt64) {
        let old = self.places.updateValue(Place(element: element, before: self.last), forKey: number)
        precondition(old == nil, "BUG: two that wait have one number")
        if let last { self.places[last]?.behind = number } else { self.first = number }
        self.last = number
    }

    /// Removes and returns the first element, with its number.
    package mutating func popFirst() -> (number: UInt64, element: Element)? { self.pop(self.first) }

    /// Removes and returns the last element, with its number.
    package mutating func popLast() -> (number: UInt64, element: Element)? { self.pop(self.last) }

    private mutating func pop(_ number: UInt64?) -> (number: UInt64, element: Element)? {
        guard let number, let element = self.remove(number) else { return nil }
        return (number, element)
    }

    /// Removes an element; nil if none has the number.
    @discardableResult
    package mutating func remove(_ number: UInt64) -> Element? {
        guard let place = self.places.removeValue(forKey: number) else { return nil }
        if let before = place.before { self.places[before]?.behind = place.behind } else { self.first = place.behind }
        if let behind = place.behind { self.places[behind]?.before = place.before } else { self.last = place.before }
        return place.element
    }
}

extension WaitingLine.Place: Sendable where Element: Sendable {}

extension WaitingLine: Sendable where Element: Sendable {}
