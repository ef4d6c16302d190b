import { useSearchParams } from 'next/navigation'
import { useCallback, useEffect, useRef, useState } from 'react'
import { paths } from '#lib/console/paths.ts'
import { formatLayout, parseLayout, type TerminalLayout } from '#lib/console/terminal-layout.ts'
import { rememberLayout } from '#lib/console/terminal-memory.ts'

/** `push` makes an entry of the history that Back returns from; `replace` is for what nobody goes back to. */
type How = 'push' | 'replace'

export type ChangeLayout = (to: (layout: TerminalLayout) => TerminalLayout, how?: How) => void

/** The layout in the address as state of the page: changed at once, written without asking the server for the page. */
export const useTerminalLayout = (devboxId: string) => {
  const params = useSearchParams()
  const text = params.get('t') ?? ''
  const hasOwnWindow = params.get('full') === '1'
  const [{ layout, refused }, setShown] = useState(() => parseLayout(text))
  const latest = useRef(layout)
  const known = useRef(text)
  /** What this page wrote and the router has not told yet: it may tell several as one, and late. */
  const written = useRef<string[]>([])
  useEffect(() => {
    if (known.current === text) return
    known.current = text
    const own = written.current.indexOf(text)
    if (own !== -1) return void written.current.splice(0, own + 1)
    // Back, forward, or a link.
    written.current = []
    const told = parseLayout(text)
    latest.current = told.layout
    setShown(told)
  }, [text])
  useEffect(() => rememberLayout(devboxId, layout), [devboxId, layout])

  const change: ChangeLayout = useCallback(
    (to, how = 'push') => {
      const next = to(latest.current)
      const before = formatLayout(latest.current)
      latest.current = next
      setShown({ layout: next, refused: [] })
      const after = formatLayout(next)
      if (after === before) return
      written.current.push(after)
      const full = new URLSearchParams(location.search).get('full') === '1'
      const address = paths.terminals(devboxId, next, full)
      if (how === 'push') history.pushState(null, '', address)
      else history.replaceState(null, '', address)
    },
    [devboxId],
  )
  return { layout, refused, hasOwnWindow, change, latest }
}
