/** Lists that are kept in this browser alone, one under each key. */

/** The store of the browser; undefined where it forbids it. */
export const browserStore = (): Storage | undefined => {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

/** Empty where nothing can be read. Values that are no item are left out: an older console or another program wrote them. */
export const readKept = <Item>(
  store: Pick<Storage, 'getItem'> | undefined,
  key: string,
  isItem: (kept: unknown) => kept is Item,
): readonly Item[] => {
  try {
    const kept: unknown = JSON.parse(store?.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isItem) : []
  } catch {
    return []
  }
}

/** False when the browser does not keep them. */
export const keepItems = (
  store: Pick<Storage, 'setItem'> | undefined,
  key: string,
  items: readonly unknown[],
): boolean => {
  try {
    store?.setItem(key, JSON.stringify(items))
    return store !== undefined
  } catch {
    // Full or switched off.
    return false
  }
}
