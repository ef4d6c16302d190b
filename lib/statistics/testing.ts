import { type Comparison, comparing } from './comparison.ts'
import type { FailureRule, JudgedJob, Judgment } from './figures.ts'
import { judging } from './judgment.ts'

export const finish = <T>(steps: Generator<void, T>): T => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

export const judge = (job: JudgedJob, rule: FailureRule = 'zero'): Judgment => finish(judging(job, rule))

export const compare = (job: JudgedJob, baselineOf: Parameters<typeof comparing>[2]): Comparison =>
  finish(comparing(job, 'zero', baselineOf))
