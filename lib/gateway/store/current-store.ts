import type { DatabaseSync } from 'node:sqlite'

/** The store that several consoles share. A console with only its data folder has none. */
export interface CurrentStore {
  /** Whether this console is the leader, which holds alerts and terminals. */
  readonly leads: boolean
  /** Why the store can't be used right now. */
  readonly problem: string | undefined
  /** Fills an empty database with the shared rows, and keeps it in sync. */
  attach(name: string, database: DatabaseSync, file: string | undefined): void
  /** Resolves when every change so far is in the store, and rejects if that takes too long. */
  stored(): Promise<void>
}

// On `globalThis`, because Next's bundle has its own copy of this module.
const key = Symbol.for('devdeck.store')
const holder = globalThis as { [key]?: CurrentStore | undefined }

export const currentStore = (): CurrentStore | undefined => holder[key]

export const setCurrentStore = (store: CurrentStore | undefined): void => {
  holder[key] = store
}
