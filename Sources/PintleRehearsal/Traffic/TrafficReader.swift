// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization
internal import PintleSystem
internal import PintleTape

/// Reads recorded traffic as it arrives in pieces: lines of Pintle's log, as JSON or text, or an HTTP archive (HAR) of Pintle,
/// a browser or mitmproxy. The first bytes tell the format.
///
/// It keeps no more of the file than one line or entry. Malformed ones are counted, and reading goes on.
package struct TrafficReader {
    /// The maximum size of a line or an entry in bytes.
    package static let longestPart = 32 << 20

    /// A part of the file that is no exchange although it should be one.
    package struct Fault: Sendable, Equatable, CustomStringConvertible {
        /// The line of the file, from 1.
        package let line: Int
        package let reason: String

        /// `line 7: reason`.
        package var description: String { "line \(self.line): \(self.reason)" }
    }

    /// The numbers of parts that were read.
    package struct Summary: Sendable, Equatable {
        package fileprivate(set) var exchanges = 0
        /// Messages of the log, entries that reach no proxy, such as `data:` URLs, and those of requests that were malformed.
        package fileprivate(set) var others = 0
        package fileprivate(set) var faults = 0
        package fileprivate(set) var firstFault: Fault?
    }

    private enum Format {
        case undecided([UInt8])
        case json(LogCutter)
        case text(LogCutter)
        case archive(ArchiveCutter)
    }

    package private(set) var summary = Summary()
    private var format = Format.undecided([])
    private var creator = ArchiveCreator.other

    package init() {}

    /// Reads a file, a pipe or a device whole.
    ///
    /// - Parameter take: gets the exchanges in the order of the file.
    /// - Throws: a sentence if the file cannot be read, or has not one exchange or message but parts that are malformed.
    package static func read(
        _ path: String, _ take: (RecordedExchange) -> Void
    ) throws(TrafficError) -> Summary {
        var reader = TrafficReader()
        do throws(SystemError) {
            try FileBytes.read(path) { reader.feed($0, take) }
        } catch {
            throw TrafficError(path, "\(error)")
        }
        reader.finish(take)
        if reader.summary.exchanges + reader.summary.others == 0, let fault = reader.summary.firstFault {
            throw TrafficError("\(path):\(fault.line)", "\(fault.reason); give a log of exchanges or a HAR file")
        }
        return reader.summary
    }

    /// Takes the next bytes of the file.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer, _ take: (RecordedExchange) -> Void) {
        guard case .undecided(var beginning) = self.format else { return self.cut(bytes, take) }
        beginning.append(contentsOf: bytes)
        self.format = Self.format(beginning, isWhole: false)
        if case .undecided = self.format { return }
        self.begin(beginning, take)
    }

    private mutating func begin(_ beginning: [UInt8], _ take: (RecordedExchange) -> Void) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        beginning.withUnsafeBytes { bytes in
            let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
            self.cut(UnsafeRawBufferPointer(rebasing: text), take)
        }
    }

    /// Ends the file.
    package mutating func finish(_ take: (RecordedExchange) -> Void) {
        if case .undecided(let beginning) = self.format {
            self.format = Self.format(beginning, isWhole: true)
            self.begin(beginning, take)
        }
        let format = self.format
        switch format {
        case .undecided: preconditionFailure("BUG: the format of a whole file is undecided")
        case .json(var cutter): cutter.finish { self.json($0, line: $1, take) }
        case .text(var cutter): cutter.finish { self.text($0, line: $1, take) }
        case .archive(let cutter):
            if cutter.isOpen { self.add(.malformed("the file ends within the archive"), line: cutter.lastLine) }
        }
    }

    /// - Parameter isWhole: true if no bytes follow.
    private static func format(_ beginning: [UInt8], isWhole: Bool) -> Format {
        let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        let text = beginning.drop { space.contains($0) }
        let lines = LogCutter(limit: Self.longestPart)
        guard let first = text.first else { return isWhole ? .text(lines) : .undecided(beginning) }
        guard first == UInt8(ascii: "{") else { return .text(lines) }
        let key = text.dropFirst().drop { space.contains($0) }
        let log = Array("\"log\"".utf8)
        if key.starts(with: log) { return .archive(ArchiveCutter(limit: Self.longestPart)) }
        let isShort = key.count < log.count && log.starts(with: key) && beginning.count < 64 << 10
        return isShort && !isWhole ? .undecided(beginning) : .json(lines)
    }

    private mutating func cut(_ bytes: UnsafeRawBufferPointer, _ take: (RecordedExchange) -> Void) {
        // The cutter is moved out and back, because a copy would allocate its storage each time.
        var format = Format.undecided([])
        swap(&format, &self.format)
        switch consume format {
        case .undecided: preconditionFailure("BUG: the format is undecided")
        case .json(var cutter):
            cutter.feed(bytes) { self.json($0, line: $1, take) }
            self.format = .json(cutter)
        case .text(var cutter):
            cutter.feed(bytes) { self.text($0, line: $1, take) }
            self.format = .text(cutter)
        case .archive(var cutter):
            cutter.feed(bytes) { self.archive($0, $1, line: $2, take) }
            self.format = .archive(cutter)
        }
    }

    // MARK: Parts

    private mutating func json(_ bytes: UnsafeRawBufferPointer?, line: Int, _ take: (RecordedExchange) -> Void) {
        guard let bytes = self.present(bytes, line) else { return }
        self.add(line: line, take) { () throws(TrafficMismatch) in
            try RecordedExchange(log: try Self.document(Array(bytes)), line: line)
        }
    }

    private mutating func text(_ bytes: UnsafeRawBufferPointer?, line: Int, _ take: (RecordedExchange) -> Void) {
        guard let bytes = self.present(bytes, line) else { return }
        self.add(line: line, take) { () throws(TrafficMismatch) in
            try RecordedExchange(log: try LogText.members(bytes), line: line)
        }
    }

    private mutating func archive(
        _ part: ArchiveCutter.Part, _ bytes: [UInt8]?, line: Int, _ take: (RecordedExchange) -> Void
    ) {
        guard let bytes else { return self.add(.malformed(Self.tooLong), line: line) }
        switch part {
        case .creator: self.creator = (try? Self.document(bytes)).map(ArchiveCreator.init) ?? .other
        case .entry:
            let creator = self.creator
            self.add(line: line, take) { () throws(TrafficMismatch) in
                try RecordedExchange(archive: try Self.document(bytes), by: creator, line: line)
            }
        }
    }

    private static let tooLong = "longer than \(Self.longestPart >> 20) MiB"

    /// The bytes of a line without a carriage return at its end; nil if there is nothing in it, or if it was too long.
    private mutating func present(_ bytes: UnsafeRawBufferPointer?, _ line: Int) -> UnsafeRawBufferPointer? {
        guard let bytes else {
            self.add(.malformed(Self.tooLong), line: line)
            return nil
        }
        let text = bytes.last == 0x0D ? UnsafeRawBufferPointer(rebasing: bytes.dropLast()) : bytes
        return text.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? nil : text
    }

    private static func document(_ bytes: [UInt8]) throws(TrafficMismatch) -> Parameter {
        do throws(JSONSyntaxError) {
            return try JSONScanner().parse(bytes)
        } catch {
            throw .malformed("no JSON: expected \(error.expected), found \(error.found)")
        }
    }

    private mutating func add(
        line: Int, _ take: (RecordedExchange) -> Void, _ read: () throws(TrafficMismatch) -> RecordedExchange
    ) {
        do throws(TrafficMismatch) {
            let exchange = try read()
            self.summary.exchanges += 1
            take(exchange)
        } catch {
            self.add(error, line: line)
        }
    }

    private mutating func add(_ mismatch: TrafficMismatch, line: Int) {
        switch mismatch {
        case .other: self.summary.others += 1
        case .malformed(let reason):
            self.summary.faults += 1
            if self.summary.firstFault == nil { self.summary.firstFault = Fault(line: line, reason: reason) }
        }
    }
}

/// The reason why recorded traffic cannot be read.
package struct TrafficError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file, with a line if there is one.
    package let place: String
    /// A sentence.
    package let reason: String

    init(_ place: String, _ reason: String) { (self.place, self.reason) = (place, reason) }

    /// `place: reason`.
    package var description: String { "\(self.place): \(self.reason)" }
}
