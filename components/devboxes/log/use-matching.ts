'use client'
import { useEffect, useRef, useState } from 'react'
import { matchApart, tooSlow } from '#lib/terminal/page/match-apart.ts'
import type { NumberedRecord } from './log-feed.ts'

interface Matching {
  /** The numbers of the records that match, or matched the expression before; null where none is in force. */
  found: ReadonlySet<number> | null
  problem: string | null
}

interface Tried extends Matching {
  pattern: RegExp
  records: readonly NumberedRecord[]
}

/** The records that somebody's expression matches; it is tried anew as more come, never twice at once. */
export const useMatching = (records: readonly NumberedRecord[], pattern: RegExp | null): Matching => {
  const [last, setLast] = useState<Tried>()
  const isOfPattern = last?.pattern === pattern
  const isTried = isOfPattern && (last.records === records || last.problem !== null)
  const running = useRef<AbortController>(undefined)

  // biome-ignore lint/correctness/useExhaustiveDependencies: what runs is ended with its expression
  useEffect(() => () => running.current?.abort(), [pattern])
  // biome-ignore lint/correctness/useExhaustiveDependencies: also after each trial, as more may have come meanwhile
  useEffect(() => {
    const isRunning = running.current && !running.current.signal.aborted
    if (!pattern || isTried || isRunning) return
    const trial = new AbortController()
    running.current = trial
    const texts = records.map(({ text }) => text)
    const done = (end: Matching) => {
      if (trial.signal.aborted) return
      running.current = undefined
      setLast({ pattern, records, ...end })
    }
    matchApart(pattern, texts, trial.signal).then(
      (places) =>
        done(
          places
            ? { found: new Set(places.flatMap((at) => records[at]?.number ?? [])), problem: null }
            : { found: null, problem: tooSlow },
        ),
      (error: Error) => done({ found: null, problem: error.message }),
    )
  }, [records, pattern, isTried, last])

  return { found: (pattern && last?.found) ?? null, problem: isOfPattern ? last.problem : null }
}
