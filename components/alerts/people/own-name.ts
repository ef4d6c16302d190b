'use client'
import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { sessionQueries } from '#components/layout/session-queries.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { cleanName, nameCookie, unverified } from '#lib/protocol/session.ts'

const listeners = new Set<() => void>()
const yearSeconds = 365 * 24 * 3600

/** The name typed in this browser. */
export const ownName = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
  /** Empty if the person skipped the question; null before it was asked. */
  read: (): string | null => {
    const cookie = document.cookie.split('; ').find((each) => each.startsWith(`${nameCookie}=`))
    if (cookie === undefined) return null
    try {
      return cleanName(decodeURIComponent(cookie.slice(nameCookie.length + 1)))
    } catch {
      return ''
    }
  },
  save: (name: string): void => {
    const value = encodeURIComponent(cleanName(name).toWellFormed())
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs a secure context, which plain http on another host is not
    document.cookie = `${nameCookie}=${value}; path=/; max-age=${yearSeconds}; samesite=strict`
    for (const listener of listeners) listener()
  },
}

export const useOwnName = (): string | null => useSyncExternalStore(ownName.subscribe, ownName.read, () => null)

export const useSession = () => useQuery({ ...sessionQueries.get(), enabled: false }).data

/** Label under which other people see this browser's person. */
export const useOwnLabel = (): string | undefined => {
  const session = useSession()
  const name = useOwnName()
  return session?.person ?? (name ? unverified(name) : session?.account.name)
}

/** Whether `own` has the alert. Someone may have typed the name of a person who signs in with single sign-on. */
export const isHeldBy = (own: string | undefined, { state, acknowledged_by }: Alert): boolean =>
  own !== undefined && state === 'acknowledged' && (acknowledged_by === own || acknowledged_by === unverified(own))

let pending: (() => void) | null = null

/** An action that waits until the person has been asked for a name. */
export const namePrompt = {
  read: () => pending,
  set: (act: (() => void) | null): void => {
    pending = act
    for (const listener of listeners) listener()
  },
}

/** Runs an action that other people see, after asking for a name if this browser has never asked. */
export const useNamed = (): ((act: () => void) => void) => {
  const session = useSession()
  return (act) => {
    if (session?.person === undefined && ownName.read() === null) namePrompt.set(act)
    else act()
  }
}
