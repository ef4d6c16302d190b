/** A program's request to write to the clipboard (OSC 52). */
export type ClipboardRequest = { kind: 'write'; text: string } | { kind: 'too_large'; sizeBytes: number }

export const maxClipboardBytes = 1024 * 1024

/** Null for reads, which are never answered, other selections, and empty or invalid base64. */
export const clipboardRequest = (data: string): ClipboardRequest | null => {
  // Only X11 has a primary selection besides the clipboard.
  const payload = /^(?:|[cpqs0-7]*[cs][cpqs0-7]*);(.*)$/s.exec(data)?.[1]
  if (payload === undefined || payload === '?') return null
  const sizeBytes = Math.floor((payload.length * 3) / 4)
  if (sizeBytes > maxClipboardBytes + 2) return { kind: 'too_large', sizeBytes }
  try {
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))
    const text = new TextDecoder().decode(bytes)
    return text === '' ? null : { kind: 'write', text }
  } catch {
    return null
  }
}
