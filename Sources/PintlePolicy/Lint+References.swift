// SPDX-License-Identifier: Apache-2.0

/// Findings about values that look like references and are not, and references that lead nowhere.
extension Lint {
    /// Examples of contracts in files that cannot be read.
    var unreadExamples: [LintFinding] {
        let routes = self.policy.routes.routes.map { route in
            (route.configuration.contract, route.apiContract, "routes[\(route.index)].contract")
        }
        let all = [(self.configuration.contract, self.policy.apiContract, "contract")] + routes
        return all.flatMap { configuration, contract, path in
            (contract?.unreadExamples ?? []).compactMap { sentence in
                configuration.map { self.warning($0.file.position, path, sentence) }
            }
        }
    }

    var unreadReferences: [LintFinding] {
        self.policy.routes.routes.flatMap { route in
            let (request, response) = (route.configuration.request.headers, route.configuration.response.headers)
            let requestLines = (request.defaults + request.set + request.add).map { ("request", $0) }
            let responseLines = (response.defaults + response.set + response.add).map { ("response", $0) }
            return (requestLines + responseLines).compactMap { part, line -> LintFinding? in
                guard ValueReference.isSuspected(in: line.value) else { return nil }
                return self.warning(
                    line.position, "routes[\(route.index)].\(part).headers",
                    "the value of \(line.name) is sent as it stands: env:NAME and file:PATH are read where they are the whole "
                        + "text, or all behind one word and a space, as in Bearer env:TOKEN")
            }
        }
    }
}
