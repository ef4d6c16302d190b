export interface Modifiers {
  ctrl: boolean
  alt: boolean
}

const cursorKeys: Record<string, string> = {
  ArrowUp: 'A',
  ArrowDown: 'B',
  ArrowRight: 'C',
  ArrowLeft: 'D',
  Home: 'H',
  End: 'F',
}
const numberedKeys: Record<string, number> = { Insert: 2, Delete: 3, PageUp: 5, PageDown: 6 }
const plainKeys: Record<string, string> = { Escape: '\x1b', Tab: '\t', Enter: '\r', Backspace: '\x7f' }

/** https://invisible-island.net/xterm/ctlseqs/ctlseqs.html, "PC-Style Function Keys". */
export const keyBytes = (key: string, { ctrl, alt }: Modifiers, isApplication: boolean): string => {
  // 1, plus 2 for Alt, plus 4 for Ctrl.
  const modifier = 1 + (alt ? 2 : 0) + (ctrl ? 4 : 0)
  const cursor = cursorKeys[key]
  if (cursor) return modifier === 1 ? `\x1b${isApplication ? 'O' : '['}${cursor}` : `\x1b[1;${modifier}${cursor}`
  const numbered = numberedKeys[key]
  if (numbered) return modifier === 1 ? `\x1b[${numbered}~` : `\x1b[${numbered};${modifier}~`
  const plain = plainKeys[key] ?? (ctrl ? controlCharacter(key) : key)
  return alt ? `\x1b${plain}` : plain
}

const controlCharacter = (key: string): string => {
  if (key === ' ') return '\0'
  if (key === '?') return '\x7f'
  const code = key.toUpperCase().charCodeAt(0)
  return key.length === 1 && code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : key
}
