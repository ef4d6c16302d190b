import type { SplitWay } from '#lib/terminal/layout/layout.ts'
import { cleanPaste } from '#lib/terminal/page/paste.ts'

/** What the rest of the console wants of a devbox's terminals. */
export type TerminalErrand =
  /** Text for the prompt line of the terminal that has the keyboard; see `promptText`. */
  { kind: 'put'; text: string } | { kind: 'new-tab' } | { kind: 'split'; way: SplitWay } | { kind: 'reopen' }

interface Waiting {
  errand: TerminalErrand
  sinceMs: number
}

/** Nobody expects any more what was asked for longer ago: the page of the terminals could not be opened. */
const maxWaitMs = 30_000

const waiting = new Map<string, Waiting[]>()
const servants = new Map<string, (errand: TerminalErrand) => void>()

/** Done by the page of that devbox's terminals, now if it is open and else once it is. */
export const askTerminals = (devboxId: string, errand: TerminalErrand, nowMs = Date.now()): void => {
  const serve = servants.get(devboxId)
  if (serve) serve(errand)
  else waiting.set(devboxId, [...(waiting.get(devboxId) ?? []), { errand, sinceMs: nowMs }])
}

/** Takes on what is asked of a devbox's terminals, and what waits. Returns the call that ends it. */
export const serveTerminals = (
  devboxId: string,
  serve: (errand: TerminalErrand) => void,
  nowMs = Date.now(),
): (() => void) => {
  servants.set(devboxId, serve)
  const errands = waiting.get(devboxId) ?? []
  waiting.delete(devboxId)
  for (const { errand, sinceMs } of errands) if (nowMs - sinceMs <= maxWaitMs) serve(errand)
  return () => {
    if (servants.get(devboxId) === serve) servants.delete(devboxId)
  }
}

/**
 * `text` as it may be put on a prompt line without anything being run, or null: a program that does not tell a paste
 * from typing (no bracketed paste) runs each line it is given.
 */
export const promptText = (text: string, { bracketedPaste }: { bracketedPaste: boolean }): string | null => {
  const clean = cleanPaste(text).replace(/[\r\n]+$/, '')
  if (clean === '') return null
  if (bracketedPaste) return clean
  // A tab typed at a prompt completes what stands before it.
  return /[\r\n]/.test(clean) ? null : clean.replaceAll('\t', ' ')
}
