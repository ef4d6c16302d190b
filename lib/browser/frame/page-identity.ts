import { readTab, writeTab } from './tab-storage.ts'

const storageKey = 'devdeck.page'
/** During a reload, the previous page may hold its lock a little longer. */
const waitMs = 200

/** Survives reloads. A duplicated tab copies the session storage, so each page also locks its id or takes a new one. */
export const pageIdentity = (): Promise<string> => {
  identity ??= takeIdentity()
  return identity
}

let identity: Promise<string> | undefined

const takeIdentity = async (): Promise<string> => {
  const stored = readTab(storageKey)
  if (stored && (await holdLock(stored))) return stored
  const fresh = crypto.getRandomValues(new Uint32Array(4)).reduce((text, part) => text + part.toString(36), 'p')
  // Without storage a reload gets a new id; the page then watches its terminals until it takes over.
  writeTab(storageKey, fresh)
  void holdLock(fresh)
  return fresh
}

/** Resolves to whether the lock became free. It is held until the page closes. */
const holdLock = (name: string): Promise<boolean> =>
  new Promise((resolve) => {
    // Web Locks need a secure context; elsewhere a duplicated tab takes over the original's terminals.
    if (!navigator.locks) return resolve(true)
    const held = () => {
      resolve(true)
      return new Promise(() => {})
    }
    navigator.locks
      .request(`${storageKey}.${name}`, { signal: AbortSignal.timeout(waitMs) }, held)
      .catch(() => resolve(false))
  })
