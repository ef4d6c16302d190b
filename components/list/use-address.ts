'use client'
import { useSearchParams } from 'next/navigation'
import { type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ZodMiniType } from 'zod/mini'
import { type FieldProblem, parseQuery } from '#lib/contract/query-string.ts'

const pauseMs = 150

/** `type` writes to the address after a pause, `replace` and `push` at once; `push` adds a history entry. */
export type HowToChange = 'type' | 'replace' | 'push'

/** Keeps page state in the address. `view` follows typing; `settled` is the address, or its defaults if it is invalid. */
export const useAddress = <View extends object>({
  schema,
  path,
}: {
  schema: ZodMiniType<View>
  path: (view: Partial<View>) => string
}) => {
  const text = useSearchParams().toString()
  const parse = useCallback(
    (search: string): { view: View; problems: FieldProblem[] } => {
      const parsed = parseQuery(schema, search)
      return parsed.ok ? { view: parsed.value, problems: [] } : { ...parse(''), problems: parsed.problems }
    },
    [schema],
  )
  const { view: settled, problems } = useMemo(() => parse(text), [parse, text])
  const [draft, setDraft] = useState<{ view: View; isWritten: boolean } | null>(null)
  const [knownText, setKnownText] = useState(text)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // A new address replaces a written draft, for example after Back, but not what is being typed.
  if (knownText !== text) {
    setKnownText(text)
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
      const write = () => {
        setDraft({ view: next, isWritten: true })
        if (how === 'push') history.pushState(null, '', path(next))
        else history.replaceState(null, '', path(next))
      }
      if (how === 'type') timer.current = setTimeout(write, pauseMs)
      else write()
    },
    [path],
  )
  /** Follows links to this page, such as filter chips, without asking the server for it. */
  const followHere = useCallback(
    (event: MouseEvent) => {
      const url = plainLinkUrl(event)
      if (!url || url.origin !== location.origin || url.pathname !== location.pathname) return
      event.preventDefault()
      // The link includes what was typed so far; a pending write would replace it.
      clearTimeout(timer.current)
      const linked = parse(url.search).view
      latest.current = linked
      setDraft({ view: linked, isWritten: true })
      history.pushState(null, '', url)
    },
    [parse],
  )
  return { problems, view, settled, change, followHere }
}

const plainLinkUrl = (event: MouseEvent): URL | null => {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
  return !link || !isPlain || link.target || link.hasAttribute('download') ? null : new URL(link.href)
}
