import { useCallback, useEffect, useRef } from 'react'
import { serveTerminals, type TerminalErrand } from '#lib/console/terminal-send.ts'
import type { useTerminalDesk } from './use-terminal-desk.ts'

/** Does what other parts of the console ask of these terminals. */
export const useServingErrands = (
  devboxId: string,
  { put, desk }: { put: (text: string) => void; desk: ReturnType<typeof useTerminalDesk> },
) => {
  const latest = useRef({ put, desk })
  latest.current = { put, desk }
  const serve = useCallback((errand: TerminalErrand) => {
    const { put, desk } = latest.current
    switch (errand.kind) {
      case 'put':
        return put(errand.text)
      case 'new-tab':
        return void desk.open()
      case 'split':
        return void desk.split(errand.way)
      case 'reopen':
        return desk.reopen()
    }
  }, [])
  useEffect(() => serveTerminals(devboxId, serve), [devboxId, serve])
}
