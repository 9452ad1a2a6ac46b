// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleSession

/// The part of the report about answers that are not the origin's own.
extension ExchangeReport {
    /// Plans the simulation of a request, if its route has any, and records a client that has come back too early.
    func simulation(
        of request: borrowing TransferRequest, by plan: RequestPlan, in active: ActiveConfiguration
    ) -> PlannedSimulation? {
        // Nearly all routes simulate nothing.
        guard let planned = active.simulations.plan(request, of: plan.decision, from: self.client) else { return nil }
        let (simulation, tape) = planned
        if let complaint = simulation.complaint {
            self.violated(.earlyRetry)
            self.error = complaint
        }
        // No rule is for this request.
        if simulation.isEmpty, tape == nil { return nil }
        return PlannedSimulation(
            plan: simulation, operation: plan.operation, sequence: self.id.sequence, client: self.client, tape: tape)
    }

    /// Keep the messages of a WebSocket; empty if none is kept.
    var messageKeepers: [any MessageKeeper] { [self.capture, self.messageKeeper].compactMap(\.self) }

    /// Records the metrics of a transfer whose connection is handed over, and why its origin was trusted.
    ///
    /// - Parameter decision: nil for a tunnel.
    func note(
        _ metrics: TransferMetrics, of origin: any OriginStream, _ decision: Decision?,
        in active: ActiveConfiguration
    ) {
        self.note(metrics)
        (self.messageKeeper, self.simulation) = (origin.messageKeeper, origin.simulation)
        self.noteVerdicts(of: origin, decision, in: active)
    }

    /// Records that protocols are switched. The status is the origin's own unless a recording was played in its place.
    func noteSwitch(_ status: UInt16, by version: String) {
        self.upstreamVersion = version
        if self.simulation == nil || !self.metrics.address.isEmpty { self.upstreamStatus = status }
    }

    /// Records that the placeholder has replaced a late response.
    func noteLate(_ limit: Duration) {
        self.problem = .upstreamTimeout
        self.error = "the origin had not answered after \(limit.spelled), so that the placeholder did"
    }

    /// Records that the response breaks off.
    func noteCut(_ reason: String, by fault: ClientFault?) {
        self.error = reason
        if fault != nil { self.simulation = .fault }
    }

    /// Records the metrics of a transfer that has ended, the cache outcome if it is known at the end only, and the differences from a
    /// recording.
    func note(_ metrics: TransferMetrics, endOf origin: (any OriginStream)?) {
        self.note(metrics, origin?.cacheOutcome)
        self.note(differences: origin?.differences ?? [])
    }

    /// Compares the messages of a WebSocket that has ended with their recording, if that was asked for, and records the differences.
    func compareMessages(then proceed: @escaping () -> Void) {
        guard let messageKeeper else { return proceed() }
        messageKeeper.compare { differences in
            self.note(differences: differences)
            proceed()
        }
    }

    private func note(differences: [String]) {
        // It is as it was, or nothing was compared.
        guard !differences.isEmpty else { return }
        self.violated(.recordingDiffers)
        self.error = differences.joined(separator: "; ")
    }
}
