/** Undefined when the browser blocks storage. */
export const browserStore = (): Storage | undefined => {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

/** Reads a list from storage. Skips values that `isItem` rejects, such as those of an older version. */
export const readList = <Item>(
  store: Pick<Storage, 'getItem'> | undefined,
  key: string,
  isItem: (value: unknown) => value is Item,
): readonly Item[] => {
  try {
    const saved: unknown = JSON.parse(store?.getItem(key) ?? '[]')
    return Array.isArray(saved) ? saved.filter(isItem) : []
  } catch {
    return []
  }
}

export const saveList = (
  store: Pick<Storage, 'setItem'> | undefined,
  key: string,
  items: readonly unknown[],
): boolean => {
  try {
    store?.setItem(key, JSON.stringify(items))
    return store !== undefined
  } catch {
    // Storage is full or disabled.
    return false
  }
}
