'use client'
import { useEffect, useRef, useState } from 'react'
import { withoutStyles } from '#lib/console/live/ansi.ts'
import { logText, type NumberedRecord } from '#lib/console/live/log-feed.ts'
import { matchApart, tooSlow } from '#lib/terminal/page/match-apart.ts'

interface Matching {
  pattern: RegExp | null
  /** The numbers of the records that match. */
  found: ReadonlySet<number>
  problem: string | null
}

const nothing: ReadonlySet<number> = new Set()

/** The records that somebody's expression matches; it is tried anew as more come, never twice at once. */
export const useMatching = (records: readonly NumberedRecord[], pattern: RegExp | null): Matching => {
  const [last, setLast] = useState<Matching & { of: readonly NumberedRecord[] }>()
  const isOfPattern = last?.pattern === pattern
  const isTried = isOfPattern && (last.of === records || last.problem !== null)
  const running = useRef<AbortController>(undefined)

  // biome-ignore lint/correctness/useExhaustiveDependencies: what runs is ended with its expression
  useEffect(() => () => running.current?.abort(), [pattern])
  useEffect(() => {
    const isRunning = running.current && !running.current.signal.aborted
    if (!pattern || isTried || isRunning) return
    const trial = new AbortController()
    running.current = trial
    const texts = records.map((record) => withoutStyles(logText(record)))
    const done = (found: ReadonlySet<number>, problem: string | null) => {
      if (trial.signal.aborted) return
      running.current = undefined
      setLast({ pattern, found, problem, of: records })
    }
    matchApart(pattern, texts, trial.signal).then(
      (places) => done(new Set(places?.flatMap((at) => records[at]?.number ?? [])), places === null ? tooSlow : null),
      (error: Error) => done(nothing, error.message),
    )
  }, [records, pattern, isTried])

  return { pattern, found: isOfPattern ? last.found : nothing, problem: isOfPattern ? last.problem : null }
}
