// SPDX-License-Identifier: Apache-2.0

/// Elements in the order in which they came, each with a number by which it can leave before its turn.
///
/// Every change takes the same time, however many elements there are.
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

    /// The elements, in no order.
    package var all: [Element] { self.places.values.map(\.element) }

    /// The element that came last.
    package var lastElement: Element? { self.last.flatMap { self.places[$0]?.element } }

    /// Puts an element at the end.
    ///
    /// - Parameter number: one that no element of this line has.
    package mutating func append(_ element: Element, number: UInt64) {
        let old = self.places.updateValue(Place(element: element, before: self.last), forKey: number)
        precondition(old == nil, "BUG: two that wait have one number")
        if let last { self.places[last]?.behind = number } else { self.first = number }
        self.last = number
    }

    /// Takes the element that came first, with its number.
    package mutating func popFirst() -> (number: UInt64, element: Element)? { self.pop(self.first) }

    /// Takes the element that came last, with its number.
    package mutating func popLast() -> (number: UInt64, element: Element)? { self.pop(self.last) }

    private mutating func pop(_ number: UInt64?) -> (number: UInt64, element: Element)? {
        guard let number, let element = self.remove(number) else { return nil }
        return (number, element)
    }

    /// Takes an element out; nil if none has the number.
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
