'use client'
import { useEffect, useRef, useState } from 'react'
import { matchInWorker, tooSlow } from '#lib/terminal/page/match-in-worker.ts'
import type { NumberedRecord } from './log-feed.ts'

interface Matches {
  /** Numbers of the matching records, of the previous pattern while the next one runs; null without a pattern. */
  numbers: ReadonlySet<number> | null
  problem: string | null
}

interface Result extends Matches {
  pattern: RegExp
  records: readonly NumberedRecord[]
}

/** Matches records in a worker, one search at a time, and again as records arrive. */
export const useMatches = (records: readonly NumberedRecord[], pattern: RegExp | null): Matches => {
  const [last, setLast] = useState<Result>()
  const isSamePattern = last?.pattern === pattern
  const isCurrent = isSamePattern && (last.records === records || last.problem !== null)
  const running = useRef<AbortController>(undefined)

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new pattern aborts the search for the old one
  useEffect(() => () => running.current?.abort(), [pattern])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each search, since records may have arrived
  useEffect(() => {
    const isRunning = running.current && !running.current.signal.aborted
    if (!pattern || isCurrent || isRunning) return
    const search = new AbortController()
    running.current = search
    const finish = (matches: Matches) => {
      if (search.signal.aborted) return
      running.current = undefined
      setLast({ pattern, records, ...matches })
    }
    matchInWorker(
      pattern,
      records.map(({ text }) => text),
      search.signal,
    ).then(
      (indexes) =>
        finish(
          indexes
            ? { numbers: new Set(indexes.flatMap((at) => records[at]?.number ?? [])), problem: null }
            : { numbers: null, problem: tooSlow },
        ),
      (error: Error) => finish({ numbers: null, problem: error.message }),
    )
  }, [records, pattern, isCurrent, last])

  return { numbers: (pattern && last?.numbers) ?? null, problem: isSamePattern ? last.problem : null }
}
