import type { Config } from '../config.ts'

// State of the whole console process. Next bundles route handlers, so a module that `server.ts` imports as well is
// loaded twice, and module-level state would exist twice. This object lives on `globalThis` and exists once.
export interface Registry {
  config: Config
  /** The origins this console answers under, by Host header. */
  origins: Map<string, string>
  port: number
  service: ServiceAddress
  slots: Map<string, { value: unknown; close: (() => void) | undefined }>
}

export interface ServiceAddress {
  embedded: boolean
  /** No trailing slash. Stays the same while the embedded service restarts. */
  url(): string
  /** The embedded service's key that a sign-in link stands for. */
  ownKey(): string | undefined
  /** Changes when the embedded service restarts; undefined for another service. */
  operatorToken(): string | undefined
}

const key = Symbol.for('devdeck.registry')
const holder = globalThis as { [key]?: Registry | undefined }

export const registry = (): Registry => {
  const found = holder[key]
  if (!found) throw new Error('The console has no registry: start it with server.ts, not with next')
  return found
}

export const createRegistry = (
  parts: Pick<Registry, 'config' | 'port' | 'service'> & { origins: readonly string[] },
): Registry => {
  const origins = new Map(parts.origins.map((origin) => [new URL(origin).host, origin]))
  const created: Registry = { ...parts, origins, slots: new Map() }
  holder[key] = created
  return created
}

/** Replaces the current registry and returns it, for tests that run two consoles in one process. */
export const setRegistry = (next: Registry | undefined): Registry | undefined => {
  const previous = holder[key]
  holder[key] = next
  return previous
}

/** Declares one object per console, created at first use. Its owner keeps the returned accessor at module level. */
export const slot =
  <T>(name: string, create: () => T, close?: (value: T) => void) =>
  ({ slots } = registry()): T => {
    const found = slots.get(name)
    if (found) return found.value as T
    const value = create()
    slots.set(name, { value, close: close && (() => close(value)) })
    return value
  }

export const closeSlots = ({ slots } = registry()): void => {
  for (const [name, { close }] of [...slots].reverse()) {
    if (!close) continue
    slots.delete(name)
    close()
  }
}
