// SPDX-License-Identifier: Apache-2.0

import PintleSession
import PintleTesting

/// A course that is played on the stage of its configuration.
protocol ModelCourse: PlayableCourse {
    associatedtype Stage: ModelCourseStage where Stage.Course == Self

    /// The number of the stage that it is for.
    var configuration: Int { get }
    /// True for the mistake by which a test shows that mistakes are found and shrunk.
    var isWrong: Bool { get set }
}

/// Plays courses of one configuration, one after the other.
protocol ModelCourseStage {
    associatedtype Course

    init(configuration: Int, on engine: Engine) throws

    /// Plays a course.
    ///
    /// - Returns: the breaches; empty if there are none.
    func play(_ course: Course) throws -> [String]
}

extension CourseRun where Course: ModelCourse {
    /// Plays everything on stages that are made when their first courses come, and ends the process.
    static func performOnStages(_ job: String) throws -> Never {
        let engine = try Engine(threads: 1)
        var stages: [Int: Course.Stage] = [:]
        try Self.perform(job) { course in
            let stage =
                try stages[course.configuration] ?? Course.Stage(configuration: course.configuration, on: engine)
            stages[course.configuration] = stage
            return try stage.play(course)
        }
    }
}
