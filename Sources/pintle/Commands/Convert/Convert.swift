// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePolicy
internal import PintleSystem

struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a configuration from the rules of another proxy.",
        discussion: """
            The formats:
              smokescreen  an egress ACL of version v1; the rules of one service, or the default ones
              squid        acl and http_access of a squid.conf, and the listeners and passwords beside them

            The result never allows more than the rules that it was made from, except for settings that are told on standard \
            error as weaker, each with its line. Settings that make it allow less are told as stricter, and all others that \
            were not carried as left out. If the order of the rules cannot be expressed by lists of destinations, nothing is \
            written.

            Exit code: 0 if nothing was left out that makes the result weaker; 1 if something was; 3 if the file breaks the \
            rules of its format; 4 if it cannot be read, its rules cannot be expressed, or the result cannot be written.
            """)

    enum Source: String, ExpressibleByArgument, CaseIterable {
        case smokescreen, squid
    }

    @Option(help: ArgumentHelp("The format of the file.", valueName: "format"))
    var from: Source

    @Option(
        help: ArgumentHelp(
            "With smokescreen: the service whose rules are meant; else those of default.", valueName: "name"))
    var service: String?

    @Option(
        help: ArgumentHelp("The file to write, which must not be there yet; else standard output.", valueName: "file"),
        completion: .file())
    var out: String?

    @Argument(help: "The file with the rules; /dev/stdin for standard input.", completion: .file())
    var file: String

    private static let name = "pintle convert"

    func validate() throws {
        if self.service != nil, self.from != .smokescreen {
            throw ValidationError("--service is for --from smokescreen; other proxies have no services.")
        }
    }

    func run() throws {
        let result: Conversion
        do throws(ConversionError) {
            result = try self.convert(LoaderEnvironment.system(environment: Inherited.environment))
        } catch {
            throw CommandFailure(error.kind.exit, lines: error.lines.map { "\(Self.name): \($0)" })
        }
        // Written unchanged, because it is a file for another command.
        let bytes = Array(result.policy.yaml.utf8)
        if let out {
            do throws(SystemError) {
                try FileWriting.create(out, with: bytes)
            } catch {
                throw CommandFailure(.incomplete, "\(Self.name): --out: \(out) cannot be written: \(error)")
            }
        } else {
            try Output.bytes(bytes)
        }
        for remark in result.remarks { Output.error("\(Self.name): \(remark.text(in: self.file))") }
        if result.isWeaker { throw CommandFailure(.found, lines: []) }
    }

    private func convert(_ surroundings: LoaderEnvironment) throws(ConversionError) -> Conversion {
        let bytes: [UInt8]
        do throws(LoaderEnvironment.ReadingError) {
            bytes = try surroundings.read(self.file, YAMLDocument.byteLimit)
        } catch {
            throw ConversionError(.incomplete, error.words(for: self.file, limit: YAMLDocument.byteLimit))
        }
        switch self.from {
        case .smokescreen: return try SmokescreenACL(bytes, file: self.file).converted(service: self.service)
        case .squid: return try SquidConversion(SquidFile(bytes, file: self.file), surroundings).converted()
        }
    }
}

extension ConversionError.Kind {
    fileprivate var exit: ProcessExit {
        switch self {
        case .usage: .usage
        case .malformed: .configuration
        case .incomplete: .incomplete
        }
    }
}
