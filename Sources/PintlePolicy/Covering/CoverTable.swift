// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A form in which a condition of a rule is filed in a ``CoverTable``.
enum CoverKey: Hashable, Sendable {
    /// Hosts on one port, or on every port.
    case host(HostPattern.Host, port: UInt16?)
    /// A list of hosts, by its name.
    case list(String)
    /// A pattern of paths, whole.
    case path([PathPattern.Token])
    /// All paths with this beginning.
    case subtree(ArraySlice<UInt8>)
    /// Some of the paths with this beginning.
    case starred(ArraySlice<UInt8>)
    /// A form of values of the field or kind of this name.
    case form(String, [[UInt8]])
    /// Every value of this name.
    case everyForm(String)
    /// Some of the values of this name that have this beginning.
    case beginning(String, ArraySlice<UInt8>)

    /// The length of the beginning, or of a network's prefix; nil for forms without one.
    fileprivate var length: Int? {
        switch self {
        case .host(.network(let network), _): network.prefixLength
        case .subtree(let beginning), .starred(let beginning), .beginning(_, let beginning): beginning.count
        case .host, .list, .path, .form, .everyForm: nil
        }
    }
}

/// A condition of a rule. One covers another if it is met whenever the other is, as far as that is obvious.
protocol Coverable {
    /// The forms in which it is filed.
    var coverKeys: [CoverKey] { get }

    /// The forms in which those that cover it may be filed; each of those is filed in one of them.
    ///
    /// - Parameter lengths: the lengths of the beginnings and prefixes that are filed, in rising order.
    func coveringKeys(_ lengths: [Int]) -> [CoverKey]
}

/// The conditions of one kind that numbered rules have, so that rules that may cover another are found by hashing and not by
/// trying each.
struct CoverTable: Sendable {
    private var filed: [CoverKey: [Int]] = [:]
    /// The rules without a condition of this kind: they cover every other in this respect.
    private var unconditional: [Int] = []
    private var lengths: [Int] = []

    /// Adds a rule under a number above all earlier ones.
    ///
    /// - Parameter conditions: the conditions, one of which must be met; none if all requests meet them.
    mutating func insert(_ conditions: some Collection<some Coverable>, rule: Int) {
        if conditions.isEmpty { self.unconditional.append(rule) }
        for condition in conditions {
            for key in condition.coverKeys {
                // A rule may repeat a condition.
                if self.filed[key]?.last != rule { self.filed[key, default: []].append(rule) }
                if let length = key.length { self.add(length) }
            }
        }
    }

    private mutating func add(_ length: Int) {
        let place = self.lengths.firstIndex { $0 >= length } ?? self.lengths.endIndex
        // Each length is asked for once.
        guard place == self.lengths.endIndex || self.lengths[place] != length else { return }
        self.lengths.insert(length, at: place)
    }

    /// The keys in which conditions that cover this one may be filed.
    func keys(covering condition: some Coverable) -> [CoverKey] { condition.coveringKeys(self.lengths) }

    /// True if a rule has a condition that is filed in one of the forms.
    func has(_ keys: [CoverKey], rule: Int) -> Bool {
        keys.contains { key in self.filed[key].map { Self.holds($0, rule) } ?? false }
    }

    private static func holds(_ rules: [Int], _ rule: Int) -> Bool {
        var (low, high) = (0, rules.count)
        while low < high {
            let middle = (low + high) / 2
            if rules[middle] < rule { low = middle + 1 } else { high = middle }
        }
        return low < rules.count && rules[low] == rule
    }

    /// The rules that have no condition of this kind, or one that is filed in one of the forms.
    func candidates(_ keys: [CoverKey]) -> CoverCandidates {
        CoverCandidates(runs: [self.unconditional] + keys.compactMap { self.filed[$0] })
    }

    /// The rules that have no paths, and those among which are all with a path that matches this one.
    ///
    /// - Parameter path: without a query, in one reading.
    func candidates(ofPath path: [UInt8]) -> CoverCandidates {
        var (bytes, plain) = (UnreservedBytes(path), [UInt8]())
        while let byte = bytes.next() { plain.append(byte) }
        return self.candidates(PathPattern.keys(covering: plain, [], self.lengths))
    }

    /// The fewest rules among which are all that cover a rule with these conditions: each of them must be covered.
    func candidates(coveringAll conditions: [[CoverKey]]) -> CoverCandidates {
        let each = conditions.map { self.candidates($0) }
        return each.min { $0.count < $1.count } ?? self.candidates([])
    }
}

/// Numbers of rules that may cover another.
struct CoverCandidates {
    /// Each rises; a number may be in several.
    fileprivate let runs: [[Int]]
    /// The sum of their lengths.
    let count: Int

    fileprivate init(runs: [[Int]]) {
        self.runs = runs
        self.count = runs.reduce(0) { $0 + $1.count }
    }

    /// The lowest number that `accepts` takes; nil if there is none.
    func first(where accepts: (Int) -> Bool) -> Int? {
        var best: Int?
        for run in self.runs {
            for number in run {
                if let best, number >= best { break }
                if accepts(number) { best = number }
            }
        }
        return best
    }
}
