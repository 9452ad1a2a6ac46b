// SPDX-License-Identifier: Apache-2.0

extension Course: ModelCourse {
    typealias Stage = ModelStage

    var simpler: [Course] {
        self.steps.indices.flatMap { index -> [Course] in
            var steps: [Step] = []
            switch self.steps[index] {
            case .asks(let client, let request):
                var simple = request
                (simple.user, simple.variant) = (0, 0)
                if simple.user != request.user || simple.variant != request.variant {
                    steps.append(.asks(client: client, simple))
                }
                if request.size > 3 {
                    simple = request
                    simple.size = 3
                    steps.append(.asks(client: client, simple))
                }
            case .answers(let origin, let answer) where answer.isChunked:
                var simple = answer
                simple.isChunked = false
                steps.append(.answers(origin: origin, simple))
            default: break
            }
            return steps.map { step in
                var course = self
                course.steps[index] = step
                return course
            }
        }
    }
}
