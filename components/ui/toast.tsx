'use client'
import { type ReactNode, useSyncExternalStore } from 'react'
import type { Tone } from './badge.tsx'
import { loadOnUse } from './overlay/load-on-use.tsx'
import { type Problem, problemOf } from './problem.ts'

export interface ToastOptions {
  description?: ReactNode
  action?: { label: string; onClick: () => void }
  /** A toast of the same id is replaced. */
  id?: string
  /** Infinity keeps it until it is dismissed. Failures stay longer, as they are read. */
  durationMs?: number
}
export type ToastTone = Exclude<Tone, 'progress'>

const load = () => import('./overlay/toaster.tsx')
const LoadedToaster = loadOnUse(async () => (await load()).Toaster)

let isUsed = false
let redraw = () => {}
const subscribe = (onChange: () => void) => {
  redraw = onChange
  return () => {
    redraw = () => {}
  }
}

/** Where toasts appear; nothing before the first one. */
export const Toaster = () =>
  useSyncExternalStore(
    subscribe,
    () => isUsed,
    () => false,
  ) && <LoadedToaster />

const show =
  (tone: ToastTone, durationMs: number) =>
  (title: ReactNode, options: ToastOptions = {}): void => {
    isUsed = true
    redraw()
    load().then(
      ({ showToast }) => showToast(tone, title, { durationMs, ...options }),
      // The toaster itself says that it could not be loaded.
      () => undefined,
    )
  }

const danger = show('danger', 12_000)

/** What a confirmed action came to. */
export const toast = {
  ok: show('ok', 4000),
  attention: show('attention', 10_000),
  danger,
  /** For what goes wrong with something: says what did not happen, and why. */
  failed: (title: ReactNode) => (problem: Problem) => danger(title, { description: problemOf(problem).message }),
  info: show('neutral', 4000),
  dismiss: (id: string): void => {
    if (isUsed) void load().then(({ dismissToast }) => dismissToast(id))
  },
}
