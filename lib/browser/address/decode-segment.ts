/** One segment of an address. Malformed escapes stay as they are. */
export const decodeSegment = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
