'use client'
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useState } from 'react'
import { type Detail, type RequestKind, TerminalRequests } from '#lib/terminal/page/requests.ts'

const Requests = createContext<TerminalRequests | null>(null)

/** Wraps the whole page, so that palette and terminals share it. */
export const TerminalRequestsProvider = ({ children }: { children: ReactNode }) => {
  const [requests] = useState(() => new TerminalRequests())
  return <Requests value={requests}>{children}</Requests>
}

export const useTerminalRequests = (): TerminalRequests => {
  const requests = useContext(Requests)
  if (!requests) throw new Error('TerminalRequestsProvider is missing')
  return requests
}

export const useServing = <Kind extends RequestKind>(
  of: string,
  kind: Kind,
  run: (...detail: Detail<Kind>) => void,
) => {
  const requests = useTerminalRequests()
  const serve = useEffectEvent(run)
  useEffect(() => requests.serve(of, kind, (...detail) => serve(...detail)), [requests, of, kind])
}
