/** What a tab keeps through reloads; nothing where the browser forbids it or has no room. */
export const readTab = (key: string): string | null => {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

export const writeTab = (key: string, text: string | null): void => {
  try {
    if (text === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  } catch {
    // Full or switched off: the next page starts without it.
  }
}
