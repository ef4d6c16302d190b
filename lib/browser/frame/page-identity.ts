import { readTab, writeTab } from './tab-storage.ts'

const storageKey = 'devdeck.page'
/** The page this one reloads may hold its name for a moment longer. */
const retriesMs = [20, 60, 120]

/**
 * This page's own name, kept through reloads. A duplicated tab gets a copy of the storage, so a name another page
 * lives under is not taken: the lock on it is held for as long as the page lives.
 */
export const pageIdentity = (): Promise<string> => {
  identity ??= takeIdentity()
  return identity
}

let identity: Promise<string> | undefined

const takeIdentity = async (): Promise<string> => {
  const stored = readTab(storageKey)
  if (stored && (await isFree(stored))) return stored
  const fresh = crypto.getRandomValues(new Uint32Array(4)).reduce((text, part) => text + part.toString(36), 'p')
  // Without storage a reload is another page: it may find itself watching, and can take over.
  writeTab(storageKey, fresh)
  // The name is new, so no other page can hold its lock.
  void holdLock(fresh)
  return fresh
}

const isFree = async (name: string): Promise<boolean> => {
  for (const waitMs of retriesMs) {
    if (await holdLock(name)) return true
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  return await holdLock(name)
}

/** Resolves once the lock is held, or turned out not to be free. Never lets go of it: the end of the page does. */
const holdLock = (name: string): Promise<boolean> =>
  new Promise((resolve) => {
    // Locks exist only where the page came safely; elsewhere a duplicated tab takes over the other's terminals.
    if (!navigator.locks) return resolve(true)
    navigator.locks
      .request(`${storageKey}.${name}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null)
        return lock && new Promise(() => {})
      })
      .catch(() => resolve(true))
  })
