import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { browserStore } from '#lib/browser/frame/saved-list.ts'

/** What this browser has seen of an account's first steps. */
export interface FirstRunSteps {
  /** The account was empty when this browser first saw it. */
  hasStarted: boolean
  hasOpenedShell: boolean
  hasCompared: boolean
  /** All steps are done, or the card was closed. */
  isOver: boolean
}

const none: FirstRunSteps = { hasStarted: false, hasOpenedShell: false, hasCompared: false, isOver: false }
const keyOf = (account: string) => `devdeck.first-run.${account}`

export const parseSteps = (text: string | null): FirstRunSteps => {
  try {
    const saved = Object(JSON.parse(text ?? '{}')) as Record<string, unknown>
    const read = (name: keyof FirstRunSteps) => saved[name] === true
    return {
      hasStarted: read('hasStarted'),
      hasOpenedShell: read('hasOpenedShell'),
      hasCompared: read('hasCompared'),
      isOver: read('isOver'),
    }
  } catch {
    return none
  }
}

/** The step that opening a page completes. */
export const stepOf = (pathname: string): Partial<FirstRunSteps> => {
  if (/^\/devboxes\/[^/]+\/terminal$/.test(pathname)) return { hasOpenedShell: true }
  return pathname === '/benchmark-jobs/compare' ? { hasCompared: true } : {}
}

const listeners = new Set<() => void>()

export const markSteps = (account: string, change: Partial<FirstRunSteps>): void => {
  try {
    const before = parseSteps(browserStore()?.getItem(keyOf(account)) ?? null)
    browserStore()?.setItem(keyOf(account), JSON.stringify({ ...before, ...change }))
  } catch {
    // Storage is full; the card stays.
  }
  for (const listener of listeners) listener()
}

/** Undefined until the browser has read it. */
export const useFirstRunSteps = (account: string): FirstRunSteps | undefined => {
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => browserStore()?.getItem(keyOf(account)) ?? null,
    () => undefined,
  )
  return useMemo(() => (text === undefined ? undefined : parseSteps(text)), [text])
}

/** Notes the step of the open page while the first steps last. */
export const useFirstRunMarks = (account: string, pathname: string): void =>
  useEffect(() => {
    const step = stepOf(pathname)
    const { hasStarted, isOver } = parseSteps(browserStore()?.getItem(keyOf(account)) ?? null)
    if (hasStarted && !isOver && Object.keys(step).length > 0) markSteps(account, step)
  }, [account, pathname])
