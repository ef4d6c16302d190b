import { usePathname, useRouter, useSearchParams } from 'next/navigation'
import { useCallback, useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from 'react'
import { terminalsPath } from '#lib/browser/address/terminals-path.ts'
import { formatLayout, parseLayout, type TerminalLayout } from '#lib/terminal/layout/layout.ts'
import type { Detail, RequestKind } from '#lib/terminal/page/requests.ts'
import { useTerminalRequests } from '../terminal-requests.tsx'
import { rememberedLayout, rememberLayout } from './remembered-layouts.ts'

type How = 'push' | 'replace'

export type ChangeLayout = (to: (layout: TerminalLayout) => TerminalLayout, how?: How) => void

/** Layout state stored in the address, updated without a server request. */
export const useTerminalLayout = (devboxId: string) => {
  const params = useSearchParams()
  const text = params.get('t') ?? ''
  const hasOwnWindow = params.get('full') === '1'
  const [{ layout, refused }, setShown] = useState(() => parseLayout(text))
  const latest = useRef(layout)
  const isNewFolder = params.get('cwd') !== null

  // Reads the address itself: the router reports changes late, merged, or not at all.
  const follow = useEffectEvent(() => {
    // A folder to open comes without a layout and is added to the one shown.
    if (search().get('cwd') !== null) return
    const parsed = parseLayout(search().get('t'))
    if (formatLayout(parsed.layout) === formatLayout(latest.current)) return
    latest.current = parsed.layout
    setShown(parsed)
  })
  useEffect(() => {
    const onPopState = () => location.pathname.endsWith('/terminal') && follow()
    window.addEventListener('popstate', onPopState)
    return () => window.removeEventListener('popstate', onPopState)
  }, [])
  useEffect(() => {
    if (text === (search().get('t') ?? '')) follow()
  }, [text])
  useEffect(() => {
    if (!isNewFolder) rememberLayout(devboxId, formatLayout(layout))
  }, [devboxId, layout, isNewFolder])

  const change: ChangeLayout = (to, how = 'push') => {
    const before = formatLayout(latest.current)
    latest.current = to(latest.current)
    setShown({ layout: latest.current, refused: [] })
    if (formatLayout(latest.current) === before) return
    const address = terminalsPath(devboxId, latest.current, search().get('full') === '1')
    if (how === 'push') history.pushState(null, '', address)
    else history.replaceState(null, '', address)
  }
  return { layout, refused, hasOwnWindow, change, latest }
}

const search = () => new URLSearchParams(location.search)

export const useTerminalsHref = (devboxId: string): string => {
  const params = useSearchParams()
  const pathname = usePathname()
  // Re-read on each navigation. The server has no remembered layout.
  const remembered = useSyncExternalStore(
    neverChanges,
    () => rememberedLayout(devboxId) ?? '',
    () => '',
  )
  const text = isTerminalPath(pathname) ? params.get('t') : remembered
  return terminalsPath(devboxId, parseLayout(text).layout)
}

const isTerminalPath = (pathname: string) => /^\/devboxes\/[^/]+\/terminal$/.test(pathname)

const neverChanges = () => () => undefined

export const useTerminalRequest = (devboxId: string) => {
  const router = useRouter()
  const requests = useTerminalRequests()
  const href = useTerminalsHref(devboxId)
  return useCallback(
    <Kind extends RequestKind>(...request: [] | [kind: Kind, ...detail: Detail<Kind>]) => {
      if (request.length > 0) requests.ask(devboxId, ...(request as [Kind, ...Detail<Kind>]))
      if (location.pathname !== new URL(href, location.href).pathname) router.push(href, { scroll: false })
    },
    [devboxId, href, requests, router],
  )
}
