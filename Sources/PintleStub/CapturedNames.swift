// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintleSystem

/// The addresses that stand for names in a captured network: one of each family for a name, the same for a whole run.
///
/// A connection to such an address is one to the name, so rules by name hold for every protocol.
package final class CapturedNames: Sendable {
    private struct Table: Sendable {
        var places: [String: UInt32] = [:]
        /// The names in the order of their places.
        var names: [String] = []
    }

    private let table = Locked(Table())
    private let places: Range<UInt32>

    package init() { self.places = CapturedNetwork.places }

    /// - Parameter count: the number of names that have room.
    init(room count: UInt32) {
        let first = CapturedNetwork.places.lowerBound
        self.places = first..<first + count
    }

    /// Returns the addresses of a name, which are new if it has none yet; nil if all 131,069 are used up.
    ///
    /// - Parameter name: in lower case, without a final dot, of at most 253 bytes.
    package func addresses(of name: String) -> (v4: IPAddress, v6: IPAddress)? {
        let place = self.table.withLock { table -> UInt32? in
            if let place = table.places[name] { return place }
            guard table.names.count < self.places.count else { return nil }
            let place = self.places.lowerBound + UInt32(table.names.count)
            table.places[name] = place
            table.names.append(name)
            return place
        }
        return place.map {
            (IPAddress(v4: CapturedNetwork.pool4 | $0), IPAddress(v6High: CapturedNetwork.pool6, low: UInt64($0)))
        }
    }

    /// The name that an address stands for; nil if it stands for none.
    package func name(of address: IPAddress) -> String? {
        guard let place = CapturedNetwork.place(of: address) else { return nil }
        return self.table.withLock { table in
            let index = Int(place - self.places.lowerBound)
            return index < table.names.count ? table.names[index] : nil
        }
    }
}
