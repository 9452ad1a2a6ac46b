// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import PintlePins
internal import PintlePolicy
internal import PintleSystem

struct PinsConvert: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert pins between the formats of clients.",
        discussion: """
            The formats:
              cer       a certificate file, or a folder of .cer, .crt, .der and .pem files, as AFNetworking has them
              sha256    sha256/BASE64, one a line
              curl      the value of --pinnedpubkey: sha256//BASE64;sha256//BASE64
              hpkp      a Public-Key-Pins field (RFC 7469)
              trustkit  a property list with TSKPinnedDomains
              android   a network security configuration with <pin-set>
              okhttp    calls of CertificatePinner.Builder, Kotlin or Java
              envoy     verify_certificate_spki
              pintle    the section trust of a configuration

            Data that a format cannot express is kept in comments that begin with pintle-, and is read back from them. \
            Data that cannot be kept in this way is listed on standard error. If a format needs hosts and none are known, \
            host.invalid is written in their place.

            Exit code: 0 if the pins were written; 3 if the file breaks the rules of its format; 4 if it cannot be read, or \
            the other format cannot express its pins.
            """)

    @Option(help: ArgumentHelp("The format of the file.", valueName: "format"))
    var from: PinFormat

    @Option(help: ArgumentHelp("The format to write to standard output.", valueName: "format"))
    var to: PinFormat

    @Option(
        help: ArgumentHelp("A host for the pins that have none in the file; repeatable.", valueName: "pattern"))
    var host: [String] = []

    @Flag(help: "Leave comments out; the data in them is lost, and is listed on standard error.")
    var bare = false

    @Option(
        help: ArgumentHelp("The folder for --to cer; no file in it is replaced.", valueName: "folder"),
        completion: .directory)
    var out: String?

    @Argument(help: "The file, or with --from cer a folder; /dev/stdin for standard input.", completion: .file())
    var file: String

    private static let name = "pintle pins convert"

    func validate() throws {
        if self.to == .cer, self.out == nil {
            throw ValidationError("--to cer needs --out and a folder for the files.")
        }
        if self.to != .cer, self.out != nil {
            throw ValidationError("--out is for --to cer; other formats go to standard output.")
        }
        if self.to == .cer, self.bare {
            throw ValidationError("--bare has no effect with --to cer, which has no comments.")
        }
    }

    func run() throws {
        let surroundings = LoaderEnvironment.system(environment: Inherited.environment)
        let text: String?
        do throws(PinFormatError) {
            var content = try self.from.read(path: self.file, surroundings)
            for remark in content.remarks { Output.error("\(Self.name): left out: \(remark)") }
            try self.nameHosts(&content.sets)
            if self.to == .cer {
                let (files, losses) = try CertificateFolder.files(content.sets)
                for loss in losses { Output.error("\(Self.name): not carried: \(loss)") }
                try self.write(files)
                text = nil
            } else {
                let written = try self.to.write(content.sets, isBare: self.bare)
                for loss in written.losses { Output.error("\(Self.name): not carried: \(loss)") }
                text = written.text
            }
        } catch {
            throw CommandFailure(Self.name, error)
        }
        // Written unchanged, because it is a file for another program.
        if let text { try Output.bytes(Array(text.utf8)) }
    }

    /// Replaces the hosts of pin sets that name none with those of the command line.
    private func nameHosts(_ sets: inout [PinSet]) throws(PinFormatError) {
        guard !self.host.isEmpty else { return }
        var hosts: [PinnedHost] = []
        for text in self.host {
            guard let host = PinnedHost(text) else {
                throw PinFormatError(.usage, "--host: \(text.debugDescription) is no host pattern")
            }
            hosts.append(host)
        }
        let unknown = sets.indices.filter { sets[$0].hosts.allSatisfy(\.isUnknown) }
        guard unknown.count == 1, let index = unknown.first else {
            throw PinFormatError(
                .usage,
                unknown.isEmpty
                    ? "--host: the file names the hosts of all its pins"
                    : "--host: \(unknown.count) sets of pins have no host; convert them one by one")
        }
        sets[index].hosts = hosts
        sets = PinSet.normalized(sets)
    }

    private func write(_ files: [CertificateFolder.File]) throws(PinFormatError) {
        let folder = self.out ?? "."
        do throws(SystemError) {
            try FileWriting.makeFolder(folder)
        } catch {
            throw PinFormatError(.unwritable, "\(folder) cannot be made: \(error)")
        }
        if let taken = files.first(where: { access("\(folder)/\($0.name)", F_OK) == 0 }) {
            throw PinFormatError(
                .unwritable, "\(folder)/\(taken.name) is there already; name an empty folder with --out")
        }
        for file in files {
            let path = "\(folder)/\(file.name)"
            do throws(SystemError) {
                try FileWriting.create(path, with: Array(file.bytes))
            } catch {
                throw PinFormatError(.unwritable, "\(path) cannot be written: \(error)")
            }
            Output.error("\(Self.name): wrote \(path)")
        }
    }
}

extension PinFormat: ExpressibleByArgument {}
