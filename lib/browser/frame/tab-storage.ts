/** Session storage that tolerates a browser that blocks it. */
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
    // Storage is full or disabled.
  }
}
