// SPDX-License-Identifier: Apache-2.0

internal import PintleImage
internal import PintleSchema
internal import PintleSerialization

/// The rules that the messages of a route must keep to.
struct RouteContracts {
    /// Nil if responses may be anything.
    var response: ResponseContract?
    var api: APIContract?
}

/// The contracts of a configuration.
struct CompiledContracts {
    /// The contracts of each route, in the same order.
    var routes: [RouteContracts]
    /// The contract for the servers that it names, on every route.
    var api: APIContract?
}

/// Compiles the configured rules for messages into contracts. Only this type reads schemas and makes decoders.
struct ContractCompiler {
    /// Receives a fault, with its path and position.
    typealias Report = (_ message: String, _ path: String, _ position: SourcePosition) -> Void

    private let surroundings: LoaderEnvironment
    private let decodedLimit: Int
    private let options: SchemaOptions
    private let report: Report
    private let known = Known()

    /// The documents that were compiled: many routes may name the same one.
    private final class Known {
        struct Description: Hashable {
            let file: String
            let checksRequests: Bool
            let isGlobal: Bool
        }

        var descriptions: [Description: Result<APIContract, Malformed>] = [:]
        var schemas: [String: Result<JSONSchema, Malformed>] = [:]
    }

    /// Compiles the contracts of `configuration`. A faulty one is reported and left out; the caller discards the result if
    /// anything was reported.
    static func compile(
        _ configuration: Configuration, surroundings: LoaderEnvironment, report: @escaping Report
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
        let place = Known.Description(
            file: contract.file.value, checksRequests: contract.requests, isGlobal: isGlobal)
        let compiled =
            self.known.descriptions[place]
            ?? Result { () throws(Malformed) in
                try APIContract(
                    contract, isGlobal: isGlobal, decodedLimit: self.decodedLimit, options: self.options,
                    surroundings: self.surroundings)
            }
        self.known.descriptions[place] = compiled
        do throws(Malformed) {
            return try compiled.get()
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
        let compiled = self.known.schemas[file] ?? Result { () throws(Malformed) in try self.compiled(file) }
        self.known.schemas[file] = compiled
        return try compiled.get()
    }

    private func compiled(_ file: String) throws(Malformed) -> JSONSchema {
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
