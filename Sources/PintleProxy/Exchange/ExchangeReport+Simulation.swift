// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleSession

extension ExchangeReport {
    /// Records that the response breaks off.
    func noteCut(_ reason: String, by fault: ClientFault?) {
        self.error = reason
        if fault != nil { self.simulation = .fault }
    }

    /// Plans the simulation of a request, if its route has any, and records a client that has come back too early.
    func simulation(
        of request: borrowing TransferRequest, by plan: RequestPlan, in active: ActiveConfiguration
    ) -> PlannedSimulation? {
        // Nearly all routes simulate nothing.
        let simulation = active.simulations.plan(request, of: plan.decision, from: self.client)
        guard let simulation else { return nil }
        if let complaint = simulation.complaint {
            self.violated(.earlyRetry)
            self.error = complaint
        }
        // No rule is for this request.
        if simulation.isEmpty { return nil }
        return PlannedSimulation(
            plan: simulation, operation: plan.operation, sequence: self.id.sequence, client: self.client)
    }
}
