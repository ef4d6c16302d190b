import { useRouter } from 'next/navigation'
import { useCallback, useSyncExternalStore } from 'react'
import { paths } from '#lib/console/address/paths.ts'
import { askTerminals, type TerminalErrand } from '#lib/console/terminal-send.ts'
import { parseLayout } from '#lib/terminal/layout/layout.ts'
import { onLayoutRemembered, rememberedLayout } from '#lib/terminal/layout/memory.ts'

/** Where the terminals of a devbox are, as they were last shown in this browser tab. */
export const useTerminalsHref = (devboxId: string): string => {
  const text = useSyncExternalStore(
    onLayoutRemembered,
    () => rememberedLayout(devboxId),
    () => '',
  )
  return paths.terminals(devboxId, parseLayout(text).layout)
}

/** Asks something of the terminals of a devbox, and goes there. */
export const useTerminalErrand = (devboxId: string): ((errand?: TerminalErrand) => void) => {
  const router = useRouter()
  const href = useTerminalsHref(devboxId)
  return useCallback(
    (errand) => {
      if (errand) askTerminals(devboxId, errand)
      const { pathname, searchParams } = new URL(location.href)
      if (pathname !== new URL(href, location.href).pathname || searchParams.get('tab') !== 'terminal')
        router.push(href, { scroll: false })
    },
    [devboxId, href, router],
  )
}
