'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { type Exclusion, type Label, withoutExcluded } from '#lib/protocol/marks.ts'
import { type AgentRow, agentRows } from '../job-figures.ts'
import { type AttemptMarks, attemptMarks } from './attempt-marks.ts'
import { markQueries } from './queries.ts'

interface MarkedJob {
  /** The job without excluded attempts, if exclusions are applied. */
  counted: BenchmarkJob
  /** Agents with all attempts, which `marks` refers to. */
  all: readonly AgentRow[]
  marks: AttemptMarks
}

const noExclusions: readonly Exclusion[] = []
const noLabels: readonly Label[] = []

/** `comparedId`: a job whose excluded scenarios are excluded here too. */
export const useMarks = (job: BenchmarkJob, isApplied: boolean, comparedId = job.id): MarkedJob => {
  const own = useQuery(markQueries.exclusions(job.id)).data?.exclusions ?? noExclusions
  const ofCompared = useQuery(markQueries.exclusions(comparedId)).data?.exclusions ?? noExclusions
  const exclusions = useMemo(
    () => (comparedId === job.id ? own : [...own, ...ofCompared]),
    [own, ofCompared, job.id, comparedId],
  )
  const labels = useQuery(markQueries.labels(job.id)).data?.labels ?? noLabels
  const counted = useMemo(() => (isApplied ? withoutExcluded(job, exclusions) : job), [job, exclusions, isApplied])
  const all = useMemo(() => agentRows(job), [job])
  const marks = useMemo(
    () => attemptMarks(job, all, { exclusions, labels, isApplied }),
    [job, all, exclusions, labels, isApplied],
  )
  return { counted, all, marks }
}
