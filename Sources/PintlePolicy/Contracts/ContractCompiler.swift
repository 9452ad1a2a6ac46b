// SPDX-License-Identifier: Apache-2.0

internal import PintleImage
internal import PintleMessage
internal import PintleSchema

/// What the messages of a route must keep to.
struct RouteContracts {
    /// Nil where responses may be anything.
    var response: ResponseContract?
    var api: APIContract?
}

/// The contracts of a configuration.
struct CompiledContracts {
    /// One for each route, in the same order.
    var routes: [RouteContracts]
    /// For the servers that it names, on every route.
    var api: APIContract?
}

/// From what routes say about responses to contracts: the one place where schemas are read and decoders are made.
struct ContractCompiler {
    /// Receives what is wrong, with its path and position.
    typealias Report = (_ message: String, _ path: String, _ position: SourcePosition) -> Void

    private let surroundings: Surroundings
    private let decodedLimit: Int
    private let options: SchemaOptions
    private let report: Report

    /// The contracts of `configuration`. One that cannot be built is reported and left out: whoever reports anything
    /// throws all of them away.
    static func compile(
        _ configuration: Configuration, surroundings: Surroundings, report: @escaping Report
    ) -> CompiledContracts {
        let compiler = ContractCompiler(
            surroundings: surroundings, decodedLimit: configuration.limits.bodyBuffer,
            options: SchemaOptions(showsValues: !configuration.log.redact), report: report)
        let routes = configuration.routes.enumerated().map { index, route in
            RouteContracts(
                response: compiler.contract(of: route.response, path: "routes[\(index)].response", at: route.position),
                api: route.contract.flatMap { compiler.api($0, path: "routes[\(index)].contract", isGlobal: false) })
        }
        return CompiledContracts(
            routes: routes, api: configuration.contract.flatMap { compiler.api($0, path: "contract", isGlobal: true) })
    }

    private func api(_ contract: ContractConfiguration, path: String, isGlobal: Bool) -> APIContract? {
        do throws(Malformed) {
            return try APIContract(
                contract, isGlobal: isGlobal, decodedLimit: self.decodedLimit, options: self.options,
                surroundings: self.surroundings)
        } catch {
            self.report(error.reason, path, contract.file.position)
            return nil
        }
    }

    private func contract(
        of rules: ResponseRules, path: String, at position: SourcePosition
    ) -> ResponseContract? {
        guard !rules.acceptsAnything,
            let body = self.rule(rules.body, removingNulls: rules.removeNulls, path: path + ".body", at: position)
        else { return nil }
        return ResponseContract(
            acceptableStatusCodes: rules.status.isEmpty ? nil : rules.status,
            acceptableContentTypes: rules.contentTypes.map { Set($0) } ?? body.mediaTypes, body: body,
            acceptsStructuredSuffixes: rules.structuredSuffixes, decodedLimit: self.decodedLimit)
    }

    private func rule(
        _ body: ResponseRules.Body, removingNulls: Bool, path: String, at position: SourcePosition
    ) -> ResponseContract.BodyRule? {
        switch body {
        case .any: return .any
        case .xml: return .xml(XMLScanner())
        case .plist: return .propertyList
        case .json(let rules):
            var rule = ResponseContract.JSONRule(
                scanner: JSONScanner(fragmentsAllowed: rules.fragments), removesNulls: removingNulls)
            if let file = rules.schema {
                do throws(Malformed) {
                    rule.document = try self.schema(file.value)
                } catch {
                    self.report(error.reason, path + ".json.schema", file.position)
                    return nil
                }
            }
            return .json(rule)
        case .image(let rules):
            do throws(ImageError) {
                return .image(ResponseContract.ImageRule(try ImageDecoder(pixelLimit: rules.pixels)))
            } catch {
                self.report(error.message, path, position)
                return nil
            }
        case .compound(let members):
            let rules = members.compactMap { self.rule($0, removingNulls: removingNulls, path: path, at: position) }
            return rules.count == members.count ? .compound(rules) : nil
        }
    }

    private func schema(_ file: String) throws(Malformed) -> JSONSchema {
        let document = try DocumentFile.read(file, self.surroundings)
        do throws(SchemaError) {
            return try JSONSchema(document, name: file, options: self.options) {
                try DocumentFile.read($0, self.surroundings)
            }
        } catch {
            throw Malformed(error.description)
        }
    }
}
