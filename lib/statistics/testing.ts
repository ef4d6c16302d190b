import { type Comparison, comparing } from './comparison.ts'
import type { FailureRule, JudgedJob, Judgement } from './figures.ts'
import { judging } from './judgement.ts'

export const finish = <T>(steps: Generator<void, T>): T => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

export const judge = (job: JudgedJob, rule: FailureRule = 'zero'): Judgement => finish(judging(job, rule))

export const compare = (job: JudgedJob, baselineOf: Parameters<typeof comparing>[2]): Comparison =>
  finish(comparing(job, 'zero', baselineOf))
