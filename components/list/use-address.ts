'use client'
import { useSearchParams } from 'next/navigation'
import { type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ZodMiniType } from 'zod/mini'
import { type FieldProblem, parseQuery } from '#lib/contract/query-string.ts'

/** Typing settles when it pauses. */
const pauseMs = 150

/** `type` settles later and `replace` at once; `push` is a place to come back to. */
export type HowToChange = 'type' | 'replace' | 'push'

/**
 * The address of a page as its state, changed without asking the server for the page again. `view` is what was typed
 * last, `settled` what the address says, or the page without filters when that has `problems`.
 */
export const useAddress = <View extends object>({
  schema,
  path,
}: {
  schema: ZodMiniType<View>
  path: (view: Partial<View>) => string
}) => {
  const text = useSearchParams().toString()
  const read = useCallback(
    (search: string): { view: View; problems: FieldProblem[] } => {
      const parsed = parseQuery(schema, search)
      return parsed.ok ? { view: parsed.value, problems: [] } : { ...read(''), problems: parsed.problems }
    },
    [schema],
  )
  const { view: settled, problems } = useMemo(() => read(text), [read, text])
  const [draft, setDraft] = useState<{ view: View; isWritten: boolean } | null>(null)
  const [known, setKnown] = useState(text)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // Once what was chosen is written, the address has the last word, the back button's too; while more is being typed,
  // an address that was written before must not take it back.
  if (known !== text) {
    setKnown(text)
    if (draft?.isWritten) setDraft(null)
  }
  const view = draft?.view ?? settled

  const latest = useRef(view)
  useEffect(() => {
    latest.current = view
  })
  const change = useCallback(
    (part: Partial<View>, how: HowToChange) => {
      clearTimeout(timer.current)
      const next = { ...latest.current, ...part }
      latest.current = next
      setDraft({ view: next, isWritten: false })
      const settle = () => {
        setDraft({ view: next, isWritten: true })
        if (how === 'push') history.pushState(null, '', path(next))
        else history.replaceState(null, '', path(next))
      }
      if (how === 'type') timer.current = setTimeout(settle, pauseMs)
      else settle()
    },
    [path],
  )
  /** Follows a link to the page it stands on (a filter, a chip) without asking the server for the page again. */
  const followHere = useCallback(
    (event: MouseEvent) => {
      const url = plainlyClicked(event)
      if (!url || url.origin !== location.origin || url.pathname !== location.pathname) return
      event.preventDefault()
      // The link was made with what is typed so far, which must not be written over it when the pause ends.
      clearTimeout(timer.current)
      const linked = read(url.search).view
      latest.current = linked
      setDraft({ view: linked, isWritten: true })
      history.pushState(null, '', url)
    },
    [read],
  )
  return { problems, view, settled, change, followHere }
}

/** Where a click leads that opens a link in this very tab. */
const plainlyClicked = (event: MouseEvent): URL | null => {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
  return !link || !isPlain || link.target || link.hasAttribute('download') ? null : new URL(link.href)
}
