// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization

/// Measures the speed of validating and reading documents: `JSONBenchmark write FOLDER` makes them, `JSONBenchmark measure
/// FOLDER` prints a line for each document and way: name, way and bytes per second, separated by tabs.
@main struct JSONBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let verb = arguments.first, let folder = arguments.last else {
            throw Failure(description: "usage: JSONBenchmark write|measure FOLDER")
        }
        switch verb {
        case "write":
            for document in Documents.all {
                try Data(document.text.utf8).write(to: URL(filePath: folder).appending(path: document.name))
            }
        case "measure":
            for document in Documents.all {
                let data = try Data(contentsOf: URL(filePath: folder).appending(path: document.name))
                try self.measure(document.name, Array(data))
            }
        default: throw Failure(description: "“\(verb)” is neither write nor measure")
        }
    }

    private static func measure(_ name: String, _ document: [UInt8]) throws {
        // In pieces of the size in which libcurl passes on a body.
        let pieces = stride(from: 0, to: document.count, by: 16384).map {
            Array(document[$0..<min($0 + 16384, document.count)])
        }
        if name.hasSuffix(".xml") {
            try self.report(name, "validate", document) { try XMLScanner().validate(document) }
            try self.report(name, "pieces", document) {
                var validator = XMLValidator()
                for piece in pieces { try validator.take(piece) }
                try validator.finish()
            }
            return
        }
        try self.report(name, "validate", document) { try JSONScanner().validate(document) }
        try self.report(name, "pieces", document) {
            var validator = JSONValidator()
            for piece in pieces { try validator.take(piece) }
            try validator.finish()
        }
        try self.report(name, "parse", document) { _ = try JSONScanner().parse(document) }
    }

    /// Prints the best of many rounds by processor time: other work on the machine only adds to it.
    private static func report(_ name: String, _ way: String, _ document: [UInt8], _ work: () throws -> Void) throws {
        try work()
        var best = Double.infinity
        var rounds = 0
        let start = self.processorTime()
        while rounds < 10 || self.processorTime() - start < 1 {
            let before = self.processorTime()
            try work()
            best = min(best, self.processorTime() - before)
            rounds += 1
        }
        print(name, way, Int(Double(document.count) / best), separator: "\t")
    }

    /// Processor time of the process in seconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}
