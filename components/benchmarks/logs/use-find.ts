import { useDeferredValue, useMemo, useState } from 'react'
import { formatCount, formatCountOf } from '#lib/browser/format.ts'
import type { LogText } from './log-text.ts'

export type Find = ReturnType<typeof useFind>

export const useFind = (log: LogText, text: string) => {
  const needle = useDeferredValue(text)
  const matches = useMemo(() => log.find(needle), [log, needle])
  const [at, setAt] = useState<number | null>(null)
  const index = at === null || matches.length === 0 ? null : Math.min(at, matches.length - 1)
  return {
    matches,
    current: index === null ? undefined : matches[index],
    summary:
      index === null
        ? formatCountOf(matches.length, 'match', 'matches')
        : `${formatCount(index + 1)} of ${formatCount(matches.length)} matches`,
    restart: () => setAt(null),
    step: (by: 1 | -1) => {
      const count = matches.length
      if (count > 0) setAt(index === null ? (by === 1 ? 0 : count - 1) : (index + by + count) % count)
    },
  }
}
