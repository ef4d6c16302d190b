import { usePathname, useRouter, useSearchParams } from 'next/navigation'
import { useCallback, useSyncExternalStore } from 'react'
import { terminalsPath } from '#lib/browser/address/terminals-path.ts'
import { parseLayout } from '#lib/terminal/layout/layout.ts'
import type { Detail, RequestKind } from '#lib/terminal/page/requests.ts'
import { useTerminalRequests } from '../terminal-requests.tsx'
import { rememberedLayout } from './use-terminal-layout.ts'

export const useTerminalsHref = (devboxId: string): string => {
  const params = useSearchParams()
  const pathname = usePathname()
  // Re-read on each navigation. The server has no remembered layout.
  const remembered = useSyncExternalStore(
    neverChanges,
    () => rememberedLayout(devboxId),
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
