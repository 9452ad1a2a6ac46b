// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import PintleSession

/// The order and the moments in which the addresses of a name are dialled.
struct AddressRaceTests {
    /// An event of a race, or the race's reaction.
    enum Line: Sendable, Equatable {
        case at(Int64)
        case fails(String)
        case dials(String)
        case givesUp(String)
        case rests(Int64)
        case waits
        case over
    }

    struct Course: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let addresses: [String]
        var winner: String?
        let lines: [Line]
    }

    static let courses: [Course] = [
        Course(
            testDescription: "families take turns, 250 ms apart",
            addresses: ["2001:db8::1", "2001:db8::2", "192.0.2.1"],
            lines: [
                .at(0), .dials("2001:db8::1"), .rests(250), .at(249), .rests(250), .at(250), .dials("192.0.2.1"),
                .rests(500), .at(510), .dials("2001:db8::2"), .waits,
            ]),
        Course(
            testDescription: "the next begins at once where one fails", addresses: ["192.0.2.1", "192.0.2.2"],
            lines: [
                .at(0), .dials("192.0.2.1"), .rests(250), .at(3), .fails("192.0.2.1"), .dials("192.0.2.2"), .waits,
                .at(9),
                .fails("192.0.2.2"), .over,
            ]),
        Course(
            testDescription: "others are waited for after a failure", addresses: ["192.0.2.1", "192.0.2.2"],
            lines: [
                .at(0), .dials("192.0.2.1"), .rests(250), .at(250), .dials("192.0.2.2"), .waits, .fails("192.0.2.2"),
                .waits,
                .fails("192.0.2.1"), .over,
            ]),
        Course(
            testDescription: "the winner is first, and its family",
            addresses: ["2001:db8::1", "192.0.2.1", "192.0.2.2"],
            winner: "192.0.2.2",
            lines: [
                .at(0), .dials("192.0.2.2"), .rests(250), .at(250), .dials("2001:db8::1"), .rests(500), .at(500),
                .dials("192.0.2.1"), .waits,
            ]),
        Course(
            testDescription: "a winner that the name has no more is forgotten", addresses: ["192.0.2.1"],
            winner: "192.0.2.9",
            lines: [.at(0), .dials("192.0.2.1"), .waits]),
        Course(testDescription: "nothing is lost at once", addresses: [], lines: [.at(0), .over]),
        Course(
            testDescription: "the first makes way where as many run as may",
            addresses: (1...9).map { "192.0.2.\($0)" },
            lines: (1...8).flatMap { number -> [Line] in
                let time = Int64(number - 1) * 250
                return [.at(time), .dials("192.0.2.\(number)"), .rests(time + 250)]
            } + [.at(2000), .givesUp("192.0.2.1"), .dials("192.0.2.9"), .waits]),
    ]

    @Test(arguments: Self.courses) func `LOOK-75 all addresses of a name are dialled in turn`(course: Course) throws {
        let address: (String) throws -> SocketAddress = { try SocketAddress(ipAddress: $0, port: 0) }
        var race = AddressRace(try course.addresses.map(address), winner: try course.winner.map(address))
        var found: [Line] = []
        var now = NIODeadline.uptimeNanoseconds(0)
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        for line in course.lines {
            switch line {
            case .at(let time): now = start + .milliseconds(time)
            case .fails(let text): race.failed(try address(text))
            default: continue
            }
            found.append(line)
            // A step that waits or ends is the last for now.
            steps: while course.lines.count > found.count, !Self.isGiven(course.lines[found.count]) {
                switch race.step(at: now) {
                case .dial(let address): found.append(.dials(address.ipAddress ?? ""))
                case .giveUp(let address): found.append(.givesUp(address.ipAddress ?? ""))
                case .rest(let moment):
                    found.append(.rests((moment - start).nanoseconds / 1_000_000))
                    break steps
                case .wait:
                    found.append(.waits)
                    break steps
                case .over:
                    found.append(.over)
                    break steps
                }
            }
        }
        #expect(found == course.lines)
    }

    private static func isGiven(_ line: Line) -> Bool {
        switch line {
        case .at, .fails: true
        default: false
        }
    }

    @Test func `LOOK-75 no more addresses are dialled than is sensible`() throws {
        let many = try (0..<1000).map { try SocketAddress(ipAddress: "192.0.\($0 / 250).\($0 % 250)", port: 0) }
        var race = AddressRace(many)
        var count = 0
        while case .dial(let address) = race.step(at: .uptimeNanoseconds(0)) {
            count += 1
            race.failed(address)
        }
        #expect(count == AddressRace.mostAddresses)
    }

    @Test func `LOOK-75 addresses and winners are known for their time`() throws {
        let (one, two) = (
            try SocketAddress(ipAddress: "192.0.2.1", port: 0), try SocketAddress(ipAddress: "fd00::a", port: 0)
        )
        var known = KnownAddresses(lifetime: .seconds(60))
        let start = NIODeadline.uptimeNanoseconds(1)
        #expect(known.addresses(of: "a.test", at: start) == nil)
        known.note([one, two], of: "a.test", at: start)
        known.note(winner: two, of: "a.test", at: start)
        #expect(known.addresses(of: "a.test", at: start + .seconds(59)) == [one, two])
        #expect(known.addresses(of: "a.test", at: start + .seconds(60)) == nil)
        known.note([two, one], of: "a.test", at: start + .seconds(61))
        #expect(known.winner(of: "a.test", at: start + .seconds(599)) == two)
        #expect(known.winner(of: "a.test", at: start + .seconds(600)) == nil)
        for number in 0..<KnownAddresses.most { known.note([one], of: "\(number).test", at: start) }
        #expect(known.addresses(of: "0.test", at: start) == [one] || known.addresses(of: "a.test", at: start) == nil)
        known.removeAll()
        #expect(known.addresses(of: "1.test", at: start) == nil)
    }
}
